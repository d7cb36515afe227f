// An agent in plain JavaScript that speaks the stdio protocol: its prompt is the list of steps to take.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const start = JSON.parse((await lines.next()).value ?? '');
const { input, agent, run_id: run } = start;
const memory = start.state?.memory ?? [];
const isResuming = input.kind === 'resume' && start.state?.run === run;
const steps = JSON.parse(input.prompt);
let answer = isResuming ? start.state.answer : '';

/** @param {object} event */
const emit = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
/** @param {string} name */
const isGated = (name) =>
  agent.approval_required_tools.some((/** @type {string} */ glob) =>
    new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(name),
  );

/** @param {number} step @param {object} event */
function park(step, event) {
  emit(event);
  emit({ type: 'checkpoint', state: { run, step, answer, memory } });
  emit({ type: 'end', outcome: 'waiting' });
  process.exit(0);
}

/** @param {{ path: string, text: string }} note */
function write({ path, text }) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  emit({ type: 'custom', name: 'tool_result', data: { name: 'write_file', path } });
}

for (let at = isResuming ? start.state.step : 0; at < steps.length; at += 1) {
  const step = steps[at];
  const given = isResuming && at === start.state.step ? input.answers[`step-${at}`] : undefined;
  if (step.say)
    for (const word of step.say.split(/(?<= )/)) emit({ type: 'message_delta', text: word });
  if (step.remember) memory.push(step.remember);
  if (step.recall) process.stdout.write(`I remember ${memory.join(', ')}\n`);
  if (step.sayAnswer) emit({ type: 'message_delta', text: answer, model: 'the-program' });
  if (step.fail) emit({ type: 'end', outcome: 'error', message: step.fail });
  if (step.ask && !given) park(at, { type: 'user_question', ref: `step-${at}`, ...step.ask });
  if (step.ask) answer = given.declined ? '' : given.values.join(', ');
  if (step.write && given && !given.allow) break;
  if (step.write && !given && isGated('write_file')) {
    const request = { tool_name: 'write_file', tool_input: step.write };
    park(at, { type: 'permission_request', ref: `step-${at}`, ...request });
  }
  if (step.write) write(given?.input ?? step.write);
  if (step.work) {
    const worker = spawn('sleep', [step.work], { stdio: 'ignore', detached: true });
    await new Promise((resolve) => worker.once('spawn', resolve));
    process.stdout.write('working\n');
    await new Promise((resolve) => worker.once('exit', resolve));
  }
}
emit({ type: 'checkpoint', state: { memory } });
process.exit(0);
