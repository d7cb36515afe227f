import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test, vi } from 'vitest';
import { readAgentFolder } from '../../../src/agents/agent-folder.ts';
import { readAiSdk } from '../../../src/harness/ai-sdk/settings.ts';
import { temporaryFolder, writeFiles } from '../../support/agent-folders.ts';
import {
  answer,
  begin,
  ended,
  logOf,
  pendingIn,
  runIn,
  startRun,
  textOf,
} from '../../support/api-steps.ts';
import { startModelServer } from '../../support/model-server/server.ts';
import { startServer } from '../../support/server.ts';

const modelServer = await startModelServer();
afterAll(() => modelServer.close());
const repository = new URL('../../../../../', import.meta.url);
const page = (path: string) => readFile(fileURLToPath(new URL(path, repository)), 'utf8');

vi.stubEnv('CANARY_KEY', 'canary-of-the-model-key');
afterAll(() => {
  vi.unstubAllEnvs();
});

const worker = {
  framework: 'ai-sdk',
  model: 'anthropic/claude-scripted',
  env: { API_KEY: '${env:CANARY_KEY}', BASE_URL: `${modelServer.url}/v1` },
  tools: ['write_file', 'read_file'],
  approval_required_tools: ['write_*'],
};

test('a run asks, waits over a restart, acts once, and has its tokens counted and priced', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    'prices.yaml': 'models: { "anthropic/*": { input: 3, output: 15 } }',
  });
  const env = { CONVOKE_PRICES: join(folder, 'prices.yaml') };
  const first = await startServer({ agents: { worker }, env });
  const script =
    '@@ say May I? && call write_file {"path":"a.txt","text":"once"} ;; call read_file {"path":"a.txt"} ;; last';
  const { session, run } = await begin(first, 'worker', script);
  await runIn(first, run, 'waiting');
  const server = await first.restart();
  const interaction = await pendingIn(server, session.id);
  expect(interaction).toMatchObject({
    tool_name: 'write_file',
    tool_input: { path: 'a.txt', text: 'once' },
  });
  await answer(server, interaction, { decision: 'allow' });
  expect(await ended(server, run)).toMatchObject({
    status: 'completed',
    output_text: 'May I?\n\ntool said: once',
    usage: { input_tokens: 300, output_tokens: 30, cost: 1350, currency: 'USD' },
  });
  const log = await logOf(server, run);
  expect(log).toContainEqual(
    expect.objectContaining({
      type: 'message_delta',
      data: { text: 'May', framework: 'ai-sdk', model: 'anthropic/claude-scripted' },
    }),
  );
  expect(log.filter(({ type }) => type === 'ai-sdk.tool_result')).toHaveLength(2);
  // D-341: each answer of the model, and together what the run used.
  const answers = log.filter(({ type }) => type === 'ai-sdk.model_usage');
  expect(answers.map(({ data }) => data)).toEqual(
    Array.from({ length: 3 }, () => ({
      input_tokens: 100,
      output_tokens: 10,
      cost: 450,
      currency: 'USD',
    })),
  );
  expect(JSON.stringify(log)).not.toContain('canary');
  expect(modelServer.log.requests.every(({ key }) => key === 'canary-of-the-model-key')).toBe(true);
  const again = await startRun(server, session, '@@ probe tool said: on+ce');
  await ended(server, again);
  // Only the earlier answer of the model contains these words together.
  expect(textOf(await logOf(server, again))).toBe('tool said: once: yes');
});

test('the shipped assistant needs one key, and names it when it is missing', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', '');
  const server = await startServer({
    agents: { assistant: await page('agents/assistant/agent.yaml') },
    agentFiles: { 'assistant/instructions.md': await page('agents/assistant/instructions.md') },
  });
  expect(server.convoke.agentProblems).toEqual([]);
  const { run } = await begin(server, 'assistant');
  expect(await ended(server, run)).toMatchObject({
    status: 'failed',
    error_code: 'agent_error',
    error_message: expect.stringMatching(/\$\{env:ANTHROPIC_API_KEY\}.*Set it in the environment/),
  });
});

test('the server accepts the agent of the guide', async () => {
  const guide = await page('docs/guides/write-an-agent.md');
  const [, text = ''] =
    /^```yaml agents\/release-notes\/agent\.yaml\n([\s\S]*?)^```/m.exec(guide) ?? [];
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'agent.yaml': text });
  const read = await readAgentFolder({
    folder,
    name: 'release-notes',
    harnesses: new Map([['ai-sdk', { read: readAiSdk }]]),
  });
  expect(read).toMatchObject({ ok: true });
});
