import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sessionId, tenantId } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { readAgentFolder } from '../../../src/agents/agent-folder.ts';
import type { Agent } from '../../../src/domain/agent.ts';
import { acpHarness } from '../../../src/harness/acp/harness.ts';
import { readAcp } from '../../../src/harness/acp/settings.ts';
import type { Harness } from '../../../src/ports/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { openSessionFolders } from '../../../src/session-folders/session-folders.ts';
import { agentOf, recordingLog, temporaryFolder } from '../../support/agent-folders.ts';
import { startModelServer } from '../../support/model-server/server.ts';
import { type Plan, type Step, adapterSuite } from '../adapter-suite.ts';
import { SandboxPlace, Sitting, allowing } from '../sittings.ts';
import { codexSettings, codexVersion } from './codex-agent.ts';
import { commandSuite } from './commands.ts';

const shipped = fileURLToPath(new URL('../../../../../agents', import.meta.url));
/** Rules that make it ask also before commands that it considers harmless. */
const rules = join(shipped, 'acp-example', 'workspace', '.codex', 'rules', 'ask.rules');

// The shared suite with a real agent from npm over the real protocol. Downloads the agent once, 76 MB.
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
  rules: { path: '/title' },
  shows: ({ path, text }) => ({ title: writing(path, text) }),
  cannot: { questions: 'codex keeps its tool for questions out of the mode that ACP clients get' },
});

commandSuite(`codex-acp ${codexVersion}`, {
  place,
  settings,
  sessionFolder: { '.codex/rules/ask.rules': await readFile(rules, 'utf8') },
  shell: (cmd) => `call exec_command ${JSON.stringify({ cmd })}`,
});

describe('codex', () => {
  test('emits its plan, its calls and its model', async () => {
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

test('the shipped acp-example asks before each command and hides its key from commands', async () => {
  const key = 'key-of-acp-example';
  vi.stubEnv('OPENAI_API_KEY', key);
  onTestFinished(() => void vi.unstubAllEnvs());
  const agent = await shippedAgent();
  const account = place.sandbox.account;
  const log = recordingLog();
  const dataDir = await temporaryFolder();
  const prepared = await openSessionFolders({ dataDir, log, account }).prepare({
    tenantId: tenantId('ten_1'),
    sessionId: sessionId('sess_shipped'),
    agent,
    expected: false,
    files: [],
  });
  if (!prepared.found) throw new Error('no session folder');
  const harness = acpHarness({ sandbox: place.sandbox, clock: systemClock, log });
  const sitting = new Sitting(harness, { name: 'shipped', agent, ...prepared });
  onTestFinished(() => sitting.release());
  const script = ['pwd', 'env']
    .map((cmd) => `call exec_command ${JSON.stringify({ cmd })}`)
    .join(' ;; ');
  const said = await sitting.say(`Please. @@ ${script} ;; last`, allowing);
  expect(said.asked).toMatchObject([{ toolName: 'execute' }, { toolName: 'execute' }]);
  expect(said.text).toContain('PWD=/workspace');
  expect(said.text).not.toContain('CODEX_API_KEY');
  expect(model.log.requests.at(-1)?.key).toBe(key);
  expect(await filesHolding(key, prepared.stateDir)).toEqual([]);
});

/** The agent of `agents/` with the program and the model of the tests. */
async function shippedAgent(): Promise<Agent> {
  const read: Harness['read'] = ({ declared, ...agent }) => {
    const [program = ''] = settings.command;
    const [, ...options] = declared.command;
    const command = [program, ...options, '-c', `openai_base_url="${model.url}/v1"`];
    const { sandbox } = settings;
    return readAcp({ ...agent, declared: { ...declared, command, sandbox } });
  };
  const folder = join(shipped, 'acp-example');
  const harnesses = new Map([['acp', { read }]]);
  const result = await readAgentFolder({ folder, name: 'acp-example', harnesses });
  if (!result.ok) throw new Error(result.reason);
  return result.agent;
}

async function filesHolding(text: string, folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((at) => join(at.parentPath, at.name));
  const contents = await Promise.all(paths.map((path) => readFile(path)));
  return paths.filter((_, index) => contents[index]?.includes(text));
}

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

/** A call ends a turn of the model; the next turn answers its result. */
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
