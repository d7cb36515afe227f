import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunRecord, isTerminalRunStatus } from '@convoke/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { until } from '../support/eventually.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { createDatabase } from '../support/postgres-databases.ts';
import { Caller } from './support/caller.ts';
import { createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

// T-1: whatever a program, a model or an MCP server sends, the server lives. On PostgreSQL, which refuses NUL in texts.
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const acpSdk = fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk'));
/** Prints the lines of its prompt. */
const printer = `require('node:readline').createInterface({ input: process.stdin })
  .once('line', (line) => console.log(JSON.parse(line).run_input.prompt))`;
const recovery = { on_loss: 'resume' };

beforeAll(() => requireSandbox());
const modelServer = await startModelServer();
afterAll(() => modelServer.close());
const database = await createDatabase();
afterAll(() => database.drop());
const agents = {
  echo: { script: [{ say: '{{prompt}}' }] },
  printer: { framework: 'stdio', command: ['node', '-e', printer], recovery },
  editor: {
    framework: 'acp',
    command: ['node', '--no-warnings', path('../harness/acp/agent.ts'), acpSdk],
    recovery,
  },
  payer: {
    framework: 'ai-sdk',
    model: 'anthropic/claude-scripted',
    env: { API_KEY: '${env:MODEL_KEY}', BASE_URL: `${modelServer.url}/v1` },
    mcp_servers: { shop: { command: 'node', args: ['./server.mjs'] } },
  },
};
const folder = await createServerFolder({
  agents,
  settings: { CONVOKE_DATABASE_URL: database.url, MODEL_KEY: 'a-key-for-tests' },
});
afterAll(() => folder.remove());
addMcpServer('pay\\u0000');
const server = await ServerProcess.start(folder);
afterAll(async () => void (await server.kill()));
const caller = await Caller.open(folder);

/** An MCP server that lists a tool of this name beside its others. */
function addMcpServer(tool: string): void {
  const program = readFileSync(path('../harness/mcp-program.mjs'), 'utf8');
  const named = program.replace('key: (_', `"${tool}": () => text('paid'),\n  key: (_`);
  expect(named).not.toBe(program);
  writeFileSync(join(folder.agentsDir, 'payer/server.mjs'), named);
}

async function play(agentName: string, prompt: string): Promise<RunRecord> {
  const { id: sessionId } = await caller.openSession(agentName);
  const { id: runId } = await caller.startRun(sessionId, prompt);
  const run = await until(
    async () => {
      const read = await caller.run({ sessionId, runId });
      return isTerminalRunStatus(read.status) && read;
    },
    { what: () => `end of the run; the server wrote:\n${server.output}` },
  );
  // In this same process: it has neither ended nor been started again.
  expect(server.isRunning).toBe(true);
  return run;
}

/** Plays a run, and a harmless one behind it. */
async function playBoth(agentName: string, prompt: string): Promise<RunRecord> {
  const run = await play(agentName, prompt);
  expect(await play('echo', 'still here')).toMatchObject({ output_text: 'still here' });
  return run;
}

const point = '{"type":"checkpoint","state":1,"recovery":true}';

test.each([
  ['user_question.ref', '{"type":"user_question","ref":"a\\u0000b","question":"q"}'],
  [
    'permission_request.ref',
    '{"type":"permission_request","ref":"\\u0000","tool_name":"t","tool_input":1}',
  ],
  [
    'permission_request.tool_name',
    '{"type":"permission_request","ref":"a","tool_name":"\\u0000","tool_input":1}',
  ],
  ['call_id', '{"type":"call_begin","call_id":"a\\u0000b","tool_name":"t"}'],
  ['call_id', '{"type":"call_end","call_id":"a\\u0000b"}'],
  ['tool_name', '{"type":"call_begin","call_id":"a","tool_name":"\\ud800"}'],
])(
  'a program that sends NUL or half of a character as %s ends its own run only',
  async (field, line) => {
    const run = await playBoth('printer', `${point}\n${line}`);
    expect(run).toMatchObject({ status: 'failed', error_code: 'agent_error', attempt: 1 });
    expect(run.error_message).toContain(field);
  },
);

test('a program that nests JSON deeper than any parser ends its own run only', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const run = await playBoth('printer', `${point}\n{"type":"checkpoint","state":${deep}}`);
  expect(run.status).toBe('failed');
});

test('a model that calls an MCP tool with NUL in its name ends its own run only', async () => {
  const run = await playBoth('payer', '@@ call shop__pay_ {} ;; last');
  expect(run).toMatchObject({ status: 'failed', error_code: 'agent_error', attempt: 1 });
  expect(run.error_message).toContain('tool_name');
});

test('an ACP agent that names its calls with NUL ends its own run only', async () => {
  const run = await playBoth('editor', JSON.stringify([{ call: 'pay\u0000' }, { say: 'done' }]));
  expect(run.error_code).not.toBe('internal_error');
});
