import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { requireSandbox } from '../../../../test/services.ts';
import type { AgentFolder } from '../faults/support/server-folder.ts';
import { A2aServer } from '../harness/a2a/agent.ts';
import type { Step } from '../harness/acp/agent.ts';
import { program, sdk } from '../harness/acp/use-acp-agent.ts';
import { startModelServer } from '../support/model-server/server.ts';

/** What servers need to execute agents of each framework. */
export interface Frameworks {
  readonly agents: Readonly<Record<string, AgentFolder>>;
  /** Below the folder of the agents, by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
}

type Prompts = Readonly<Record<string, string>>;

/** Runs that never end on their own. */
export const lasting: Prompts = {
  sleeper: 'go',
  thinker: '@@ say One && call list_files {} ;; slow 2 3600000',
  courier: 'A B',
  clerk: 'wait',
  remote: JSON.stringify([{ say: 'Before. ' }, { hold: true }]),
  helper: JSON.stringify([{ say: 'One.' }, { wait: 3_600_000 }] satisfies Step[]),
  builder: `@@ ${Array.from({ length: 2_000 }, (_, index) => `job-${index}`).join(' ')}`,
};

/** Runs that take seconds, and reach many places where another server may continue. */
export const stepping: Prompts = {
  teller: 'go',
  clerk: 'count',
  helper: JSON.stringify(
    Array.from({ length: 8 }, (_, at) => `job-${at}`).flatMap((call): Step[] => [
      { call },
      { wait: 500 },
    ]),
  ),
};

const write = (path: string) => `call write_file {"path":"${path}","text":"${path}"}`;

/** Runs that wait three times for a person. */
export const asking: Prompts = {
  asker: 'go',
  thinker: `@@ ${write('a')} ;; ${write('b')} ;; ${write('c')} ;; say Done`,
  speaker: JSON.stringify([
    ...['First?', 'Second?', 'Third?'].map((question) => ({ ask: { question } })),
    { say: 'Done.' },
  ]),
  clerk: 'ask',
  remote: JSON.stringify([
    { ask: 'First?' },
    { ask: 'Second?' },
    { ask: 'Third?' },
    { say: 'Done.' },
  ]),
  porter: JSON.stringify(['one', 'two', 'three'].map((call): Step => ({ call }))),
  mason: '@@ one two three',
};

const words = Array.from({ length: 60 }, (_, index) => `word-${index} `).join('');

const clerk = `
import { setTimeout as lasting } from 'node:timers/promises';
import { agent } from '@convoke/agent';
export default agent(async (ctx) => {
  ctx.say('Begun. ');
  if (ctx.prompt === 'ask') {
    for (const question of ['First?', 'Second?', 'Third?']) await ctx.ask(question);
    return;
  }
  const [steps, ms] = ctx.prompt === 'count' ? [50, 100] : [1, 3_600_000];
  for (let step = 0; step < steps; step += 1) {
    await ctx.step('wait ' + step, async () => (await lasting(ms), step), { repeatable: true });
  }
});
`;

/** A model, a remote agent and a stand-in for Claude's SDK, and agents of all seven frameworks. */
export async function openFrameworks(): Promise<Frameworks> {
  requireSandbox();
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const remote = await A2aServer.start();
  onTestFinished(() => remote.close());
  const harness = join(import.meta.dirname, '../harness');
  const courier = readFileSync(join(harness, 'stdio/courier/agent.py'), 'utf8');
  const acp = { framework: 'acp', command: ['node', '--no-warnings', program, sdk] };
  const claude = { framework: 'claude', env: { ANTHROPIC_API_KEY: '${env:TRACED_KEY}' } };
  return {
    agents: {
      sleeper: { script: [{ say: 'Zzz' }, { sleep_ms: 3_600_000 }] },
      teller: {
        script: [{ say: 'First. ' }, { say: { text: words, every_ms: 80 } }, { say: 'Done.' }],
      },
      asker: {
        script: [
          { ask: { question: 'First?' } },
          { ask: { question: 'Second?' } },
          { ask: { question: 'Third?' } },
          { say: 'Done.' },
        ],
      },
      thinker: {
        framework: 'ai-sdk',
        model: 'openai-compatible/scripted',
        env: { BASE_URL: `${model.url}/v1` },
        tools: ['list_files', 'write_file'],
        approval_required_tools: ['write_*'],
      },
      courier: {
        framework: 'stdio',
        command: ['python3', './agent.py'],
        recovery: { on_loss: 'resume' },
      },
      speaker: { framework: 'stdio', command: ['node', './program.mjs'] },
      clerk: { framework: 'code' },
      remote: { framework: 'a2a', url: remote.url },
      helper: acp,
      porter: { ...acp, approval_required_tools: ['execute'] },
      builder: claude,
      mason: { ...claude, approval_required_tools: ['Append'] },
    },
    files: {
      'courier/agent.py': courier.replace('0.05', '3600'),
      'speaker/program.mjs': readFileSync(join(harness, 'stdio/program.mjs'), 'utf8'),
      'clerk/agent.ts': clerk,
    },
    settings: {
      CONVOKE_A2A_ALLOW: new URL(remote.url).host,
      TRACED_KEY: 'key',
      NODE_PATH: claudeSdk(harness),
    },
  };
}

/** A folder of packages in which servers find a Claude that works without a model. */
function claudeSdk(harness: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-claude-'));
  onTestFinished(() => removeFolderSync(folder));
  const place = join(folder, '@anthropic-ai/claude-agent-sdk');
  mkdirSync(place, { recursive: true });
  const standIn = JSON.stringify(join(harness, 'claude/working-sdk.ts'));
  writeFileSync(join(place, 'package.json'), '{"type": "module", "main": "index.js"}');
  writeFileSync(
    join(place, 'index.js'),
    `import { workingSdk } from ${standIn};\nexport const { query } = workingSdk;\n`,
  );
  return folder;
}
