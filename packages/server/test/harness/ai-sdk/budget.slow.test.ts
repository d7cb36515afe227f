import { afterAll, expect, test, vi } from 'vitest';
import { openSession, runIn } from '../../support/api-steps.ts';
import { eventually } from '../../support/eventually.ts';
import { startModelServer } from '../../support/model-server/server.ts';
import { type TestServer, startServer } from '../../support/server.ts';

/** Each answer of the model server reports 100 tokens of input and 10 of output. */
const tokensPerCall = 110;

const model = await startModelServer();
afterAll(() => model.close());
vi.stubEnv('LOOPER_KEY', 'key-of-the-looper');
afterAll(() => {
  vi.unstubAllEnvs();
});

const looper = (name: string) => ({
  framework: 'ai-sdk',
  model: `anthropic/${name}`,
  env: { API_KEY: '${env:LOOPER_KEY}', BASE_URL: `${model.url}/v1` },
  tools: ['list_files'],
  limits: { max_steps: 1000 },
});

/** A model that calls a tool again and again. */
const forEver = `@@ ${Array.from({ length: 300 }, () => 'call list_files {}').join(' ;; ')}`;
const callsOf = (name: string) =>
  model.log.requests.filter((request) => request.model === name).length;

async function start(server: TestServer, agent: string, budget?: { max_tokens: number }) {
  const session = await openSession(server, agent);
  const { body } = await server.send('start_run', {
    params: { session_id: session.id },
    body: { input: { prompt: forEver }, ...(budget && { budget }) },
  });
  return body;
}

test('an agent that calls a tool for ever ends within one call of its ceiling, and asks for no more output than is left (D-133)', async () => {
  const server = await startServer({ agents: { looper: looper('claude-own') } });
  const run = await start(server, 'looper', { max_tokens: 1000 });
  const ended = await runIn(server, run, 'failed');
  const calls = callsOf('claude-own');
  expect(ended).toMatchObject({
    error_code: 'budget_exceeded',
    usage: { input_tokens: calls * 100, output_tokens: calls * 10 },
  });
  expect(calls).toBe(Math.ceil(1000 / tokensPerCall));
  const bodies = model.log.requests
    .filter((request) => request.model === 'claude-own')
    .map(({ source }) => JSON.parse(source).max_tokens);
  expect(bodies.slice(-2)).toEqual([1000 - 8 * tokensPerCall, 1000 - 9 * tokensPerCall]);
});

test('many runs of a tenant on two servers pass its budget by at most one call each, and every call is charged (D-130, D-132)', async () => {
  const agents = { looper: looper('claude-many') };
  const first = await startServer({ database: 'postgres', agents });
  // Another server on the same database, which executes runs too.
  const second = await startServer({
    agents,
    env: {
      CONVOKE_DATABASE_URL: first.config.databaseUrl ?? '',
      CONVOKE_MASTER_KEY_FILE: first.config.cluster.masterKeyFile.path,
    },
  });
  expect(second.config.databaseUrl).toBe(first.config.databaseUrl);
  const { organization_id, tenant_id } = first.quickstart;
  const params = { organization_id };
  const max_tokens = 2000;
  const { body: budget } = await first.send('set_budget', {
    params,
    headers: { 'idempotency-key': 'budget of the tenant' },
    body: { scope: { kind: 'tenant', id: tenant_id }, period: 'total', max_tokens },
  });
  const runs = await Promise.all(Array.from({ length: 6 }, () => start(first, 'looper')));
  const ended = await Promise.all(runs.map((run) => runIn(first, run, 'failed')));
  expect(ended.map(({ error_code }) => error_code)).toEqual(runs.map(() => 'budget_exceeded'));
  const charged = ended.reduce(
    (sum, { usage }) => sum + (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0),
    0,
  );
  const calls = callsOf('claude-many');
  expect(charged).toBe(calls * tokensPerCall);
  expect(charged).toBeGreaterThanOrEqual(max_tokens);
  expect(charged).toBeLessThan(max_tokens + runs.length * tokensPerCall);
  const { body: seen } = await first.send('get_budget', {
    params: { ...params, budget_id: budget.id },
  });
  expect(seen.spent.tokens).toBe(charged);
  const total = await eventually(async () => {
    const { body } = await first.send('read_usage');
    return body.usage[0]?.runs === runs.length ? body.usage[0] : undefined;
  });
  expect(total.input_tokens + total.output_tokens).toBe(charged);
});
