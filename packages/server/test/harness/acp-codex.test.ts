import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { acpHarness } from '../../src/harness/acp/harness.ts';
import { systemClock } from '../../src/system/clock.ts';
import { startModelServer } from '../model-server/server.ts';
import { commandSuite } from './acp-commands.ts';
import { type Plan, type Step, adapterSuite } from './adapter-suite.ts';
import { agentOf, recordingLog } from './agents.ts';
import { codexSettings, codexVersion } from './codex-agent.ts';
import { SandboxPlace, Sitting } from './sittings.ts';

/** What makes it ask before commands that it takes for harmless, as it ships. */
const rules = fileURLToPath(
  new URL('../../../../agents/acp-example/workspace/.codex/rules/ask.rules', import.meta.url),
);

// The shared promises, kept by a real agent from npm over the real wire. It fetches the agent once, 76 MB.
beforeAll(() => requireSandbox());
const model = await startModelServer();
const place = await SandboxPlace.open();
const settings = await codexSettings(model.url);
afterAll(async () => {
  await place.close();
  await model.close();
});

adapterSuite(`acp (codex-acp ${codexVersion})`, {
  open: async () => ({
    harness: acpHarness({ sandbox: place.sandbox, clock: systemClock, log: recordingLog() }),
    account: place.sandbox.account,
  }),
  planFor: (steps, gatedTools) =>
    planOf(scriptOf(steps), gatedTools.length === 0 ? [] : ['execute']),
  memory: {
    first: planOf('say My favourite animal is the zebra', []),
    second: planOf('probe favourite animal is the z+ebra', []),
    expected: 'favourite animal is the zebra: yes',
  },
  isWorking: () => model.log.requests.some(({ ended }) => ended === 'open'),
  shows: ({ path, text }) => ({ title: writing(path, text) }),
  cannot: { questions: 'codex keeps its tool for questions out of the mode that ACP clients get' },
});

commandSuite(`codex-acp ${codexVersion}`, {
  place,
  settings,
  workspace: { '.codex/rules/ask.rules': await readFile(rules, 'utf8') },
  shell: (cmd) => `call exec_command ${JSON.stringify({ cmd })}`,
});

describe('codex', () => {
  test('tells its plan, its calls and its model', async () => {
    const plan = { plan: [{ step: 'look around', status: 'in_progress' }] };
    const said = await play(`call update_plan ${JSON.stringify(plan)} ;; say planned`);
    expect(said.custom('plan')).toMatchObject([{ entries: [{ content: 'look around' }] }]);
    expect(said.events).toContainEqual({
      type: 'message_delta',
      text: 'planned',
      model: 'scripted',
    });
  });

  test.each([
    ['a key that the provider refuses', { MODEL_KEY: 'bad-key' }, [], /401.*API key is not valid/],
    ['a model that the provider refuses', {}, ['-c', 'model="refused-1"'], /model does not exist/i],
  ])('says in the error that it has %s', async (...[, env, options, words]) => {
    const { end } = await play('say never', { env, options });
    expect(end).toMatchObject({ outcome: 'error', code: 'model_error' });
    expect(JSON.stringify(end)).toMatch(words);
  });
});

let sessions = 0;

async function play(script: string, { env = {}, options = [] as readonly string[] } = {}) {
  sessions += 1;
  const name = `codex-${sessions}`;
  const harness = acpHarness({ sandbox: place.sandbox, clock: systemClock, log: recordingLog() });
  const { agent, prompt } = planOf(script, []);
  const { command } = settings;
  const changed = {
    ...agent,
    settings: { ...settings, command: [...command, ...options], env: { ...settings.env, ...env } },
  };
  const places = await place.session(name);
  const sitting = new Sitting(harness, { name, agent: changed, ...places });
  onTestFinished(() => sitting.release());
  return sitting.say(prompt);
}

function planOf(script: string, approvalRequiredTools: readonly string[]): Plan {
  const agent = agentOf({ framework: 'acp', folder: '/usr', approvalRequiredTools, settings });
  return { agent, prompt: `Please do this. @@ ${script}` };
}

/** A call ends a turn of the model; what follows is the answer to its result. */
function scriptOf(steps: readonly Step[]): string {
  return steps
    .map((step, index) => {
      const isFollowed = 'say' in step && index < steps.length - 1;
      return `${scriptStep(step)}${isFollowed ? ' && call exec_command {"cmd":"ls"}' : ''}`;
    })
    .join(' ;; ');
}

function scriptStep(step: Step): string {
  if ('say' in step) return `say ${step.say.trim()}`;
  if ('write' in step) {
    const cmd = writing(step.write.path, step.write.text);
    return `call exec_command ${JSON.stringify({ cmd })}`;
  }
  if ('fail' in step) return `fail 400 ${step.fail}`;
  if ('work' in step) return 'say working && hang';
  throw new Error('codex cannot ask');
}

function writing(path: string, text: string): string {
  return `mkdir -p ${path.replace(/\/[^/]*$/, '')}; printf %s '${text}' > ${path}`;
}
