// An agent in plain JavaScript that speaks the stdio protocol: its prompt is the list of steps to take.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const start = JSON.parse((await lines.next()).value ?? '');
const { input, run_id: run } = start;
const memory = start.state?.memory ?? [];
const isResuming = input.kind === 'resume' && start.state?.run === run;
const steps = JSON.parse(input.prompt);
let answer = isResuming ? start.state.answer : '';

/** @param {object} event */
const emit = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
/** @param {number} step @param {object} event */
function park(step, event) {
  emit(event);
  emit({ type: 'checkpoint', state: { run, step, answer, memory } });
  emit({ type: 'end', outcome: 'waiting' });
  process.exit(0);
}

/**
 * Writes the file, if the server lets the call begin.
 * @param {number} step @param {{ path: string, text: string }} note
 */
async function write(step, note) {
  const call_id = `step-${step}`;
  const call = { tool_name: 'write_file', tool_input: note };
  emit({ type: 'call_begin', call_id, ...call, touches: 'workspace' });
  const said = JSON.parse((await lines.next()).value ?? '{}');
  if (said.effect === 'ask') park(step, { type: 'permission_request', ref: call_id, ...call });
  if (said.type !== 'call_begun') return false;
  const { path, text } = note;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  emit({ type: 'call_end', call_id });
  emit({ type: 'custom', name: 'tool_result', data: { name: 'write_file', path } });
  return true;
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
  if (step.write && !(await write(at, given?.input ?? step.write))) break;
  if (step.work) {
    const worker = spawn('sleep', [step.work], { stdio: 'ignore', detached: true });
    await new Promise((resolve) => worker.once('spawn', resolve));
    process.stdout.write('working\n');
    await new Promise((resolve) => worker.once('exit', resolve));
  }
}
emit({ type: 'checkpoint', state: { memory } });
process.exit(0);
