import { limits } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { begin, openSession, runIn, startRun } from '../support/api-steps.ts';
import { addClient, addOrganization } from '../support/identities.ts';
import { type Deployment, type TestServer, deployments, startServer } from '../support/server.ts';

const agents = {
  /** Reports 10 tokens a step, for ever so long. */
  spender: {
    description: 'Uses tokens without end',
    model: 'm',
    script: [
      {
        repeat: {
          times: 1000,
          steps: [{ say: 'On and on. ' }, { use: { input_tokens: 9, output_tokens: 1 } }],
        },
      },
    ],
  },
  poor: {
    description: 'Uses up its budget with its first run',
    model: 'm',
    script: [{ use: { input_tokens: 9, output_tokens: 1 } }],
  },
  free: {
    description: 'Reports tokens without a model',
    script: [{ use: { input_tokens: 9, output_tokens: 1 } }, { say: 'Done.' }],
  },
  bounded: {
    description: 'Has a ceiling of its own',
    model: 'm',
    limits: { max_tokens: 100 },
    script: [{ repeat: { times: 1000, steps: [{ use: { input_tokens: 9, output_tokens: 1 } }] } }],
  },
};

const key = () => ({ headers: { 'idempotency-key': `key-${crypto.randomUUID()}` } });

describe.each(deployments)('ceilings and budgets on %s', (database: Deployment) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents });
  });

  async function setBudget(body: object) {
    const { organization_id } = server.quickstart;
    return server.send('set_budget', {
      params: { organization_id },
      ...key(),
      body,
    });
  }

  test('a run ends at its own ceiling, and what was said is kept (D-132)', async () => {
    const session = await openSession(server, 'spender');
    const { body: run } = await server.send('start_run', {
      params: { session_id: session.id },
      body: { input: { prompt: 'go' }, budget: { max_tokens: 35 } },
    });
    expect(run.budget).toEqual({ max_tokens: 35 });
    const ended = await runIn(server, run, 'failed');
    expect(ended).toMatchObject({
      error_code: 'budget_exceeded',
      output_text: 'On and on. '.repeat(4),
      usage: { input_tokens: 36, output_tokens: 4 },
    });
  });

  test('a request lowers the ceiling of the agent and cannot raise it', async () => {
    const session = await openSession(server, 'bounded');
    const start = async (budget?: { max_tokens: number }) => {
      const { body } = await server.send('start_run', {
        params: { session_id: session.id },
        body: { input: { prompt: 'go' }, ...(budget && { budget }) },
      });
      return runIn(server, body, 'failed');
    };
    const tokensOf = (run: Awaited<ReturnType<typeof start>>) =>
      (run.usage?.input_tokens ?? 0) + (run.usage?.output_tokens ?? 0);
    expect(tokensOf(await start())).toBe(100);
    expect(tokensOf(await start({ max_tokens: 50 }))).toBe(50);
    expect(tokensOf(await start({ max_tokens: 5000 }))).toBe(100);
  });

  test('a budget of the session cuts its runs and refuses new ones', async () => {
    const { organization_id } = server.quickstart;
    const { session, run } = await begin(server, 'bounded');
    await runIn(server, run, 'failed');
    const scope = { kind: 'session', id: session.id };
    const { status, body: made } = await setBudget({ scope, period: 'total', max_tokens: 20 });
    expect(status).toBe(201);
    const cut = await runIn(server, await startRun(server, session, 'go'), 'failed');
    expect(cut).toMatchObject({ error_code: 'budget_exceeded', usage: { input_tokens: 18 } });
    expect(
      await server.refused('start_run', {
        params: { session_id: session.id },
        body: { input: { prompt: 'go' } },
      }),
    ).toMatchObject({ status: 409, error: 'budget_exhausted' });
    const params = { organization_id, budget_id: made.id };
    const { body: seen } = await server.send('get_budget', { params });
    expect(seen).toMatchObject({ max_tokens: 20, spent: { tokens: 20, cost: 0 }, version: 1 });
    await server.send('delete_budget', { params });
    await runIn(server, await startRun(server, session, 'go'), 'failed');
    expect(await server.refused('get_budget', { params })).toMatchObject({ status: 404 });
    // Deleting it again succeeds (D-490).
    expect((await server.send('delete_budget', { params })).status).toBe(204);
  });

  test('a budget is changed with the version that was read', async () => {
    const scope = { kind: 'agent', id: 'some-agent' };
    const body = { scope, period: 'month', max_cost: 5_000_000 } as const;
    const { body: made } = await setBudget(body);
    expect(made).toMatchObject({ max_cost: 5_000_000, currency: 'USD', version: 1 });
    const { organization_id } = server.quickstart;
    for (const seen of [{}, { version: 2 }, { period: 'day', version: 1 } as const]) {
      const refused = await server.refused('set_budget', {
        params: { organization_id },
        ...key(),
        body: { ...body, ...seen },
      });
      expect(refused).toMatchObject({ status: 409, error: 'version_conflict' });
    }
    const { status, body: changed } = await setBudget({ ...body, max_cost: 1, version: 1 });
    expect([status, changed.version, changed.id]).toEqual([200, 2, made.id]);
    const { body: list } = await server.send('list_budgets', { params: { organization_id } });
    expect(list.budgets.map(({ id }) => id)).toContain(made.id);
  });

  test('a one-shot run is refused once the budget of its agent is used up (D-132)', async () => {
    await setBudget({ scope: { kind: 'agent', id: 'poor' }, period: 'total', max_tokens: 5 });
    await runIn(server, (await begin(server, 'poor')).run, 'failed');
    const refused = await server.refused('invoke_agent', {
      params: { agent_name: 'poor' },
      body: { input: { prompt: 'go' } },
    });
    expect(refused).toMatchObject({ status: 409, error: 'budget_exhausted' });
  });

  test('a key that was used for another budget is a conflict (D-134)', async () => {
    const { organization_id } = server.quickstart;
    const once = { params: { organization_id }, ...key() };
    const body = { scope: { kind: 'agent', id: 'keyed' }, period: 'day', max_tokens: 1 } as const;
    expect((await server.send('set_budget', { ...once, body })).status).toBe(201);
    expect((await server.send('set_budget', { ...once, body })).status).toBe(200);
    const other = { ...body, max_tokens: 2 };
    expect(await server.refused('set_budget', { ...once, body: other })).toMatchObject({
      status: 409,
      error: 'idempotency_conflict',
    });
  });

  test.runIf(database === 'sqlite')('an organization has at most 100 budgets', async () => {
    const { organization_id, owner } = await addOrganization(server, 'Thrifty');
    const set = (id: string) => ({
      as: owner,
      params: { organization_id },
      ...key(),
      body: { scope: { kind: 'agent', id }, period: 'day', max_tokens: 1 } as const,
    });
    for (let made = 0; made < limits.budgetsPerOrganization; made += 1) {
      await server.send('set_budget', set(`agent-${made}`));
    }
    expect(await server.refused('set_budget', set('one-more'))).toMatchObject({
      status: 409,
      error: 'budget_limit_reached',
    });
  });

  test('a client cannot read, set or delete a budget (D-134)', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    const as = (await addClient(server, { profile: 'invoke' })).in(tenant_id);
    const params = { organization_id };
    const one = { ...params, budget_id: 'bud_1' };
    const body = { scope: { kind: 'agent', id: 'a' }, period: 'day', max_tokens: 1 } as const;
    expect(await server.refused('set_budget', { as, params, ...key(), body })).toMatchObject({
      status: 403,
    });
    expect(await server.refused('list_budgets', { as, params })).toMatchObject({ status: 403 });
    expect(await server.refused('get_budget', { as, params: one })).toMatchObject({ status: 403 });
    expect(await server.refused('delete_budget', { as, params: one })).toMatchObject({
      status: 403,
    });
  });

  test.each([
    [{ scope: { kind: 'agent', id: 'a' }, period: 'day' }, 'max_tokens'],
    [{ scope: { kind: 'agent', id: 'a' }, period: 'week', max_tokens: 1 }, 'period'],
    [{ scope: { kind: 'planet', id: 'a' }, period: 'day', max_tokens: 1 }, 'scope'],
    [{ scope: { kind: 'agent', id: 'a' }, period: 'day', max_tokens: 0 }, 'max_tokens'],
    [{ scope: { kind: 'agent', id: 'a' }, period: 'day', max_cost: 1.5 }, 'max_cost'],
    [{ scope: { kind: 'tenant', id: 'ten_no' }, period: 'day', max_tokens: 1 }, 'scope.id'],
  ])('refuses %j', async (body, field) => {
    const { organization_id } = server.quickstart;
    const refused = await server.refused('set_budget', {
      params: { organization_id },
      ...key(),
      body,
    });
    expect(refused).toMatchObject({ status: 400, error: 'invalid_body' });
    expect(refused.message).toContain(field);
  });

  test('a ceiling of cost refuses a model without a price (D-131)', async () => {
    const session = await openSession(server, 'spender');
    const refused = await server.refused('start_run', {
      params: { session_id: session.id },
      body: { input: { prompt: 'go' }, budget: { max_cost: 1_000_000 } },
    });
    expect(refused).toMatchObject({ status: 409, error: 'unpriced_model' });
    expect(refused.message).toContain('has no price');
    const invoked = await server.refused('invoke_agent', {
      params: { agent_name: 'spender' },
      body: { input: { prompt: 'go' }, budget: { max_cost: 1_000_000 } },
    });
    expect(invoked).toMatchObject({ status: 409, error: 'unpriced_model' });
  });

  test('a budget of cost is refused where it would refuse runs, and names the agents', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    const session = await openSession(server, 'poor');
    const { id: client } = (await addClient(server, {})).record;
    for (const scope of [
      { kind: 'tenant', id: tenant_id },
      { kind: 'client', id: client },
      { kind: 'agent', id: 'poor' },
      { kind: 'session', id: session.id },
    ]) {
      const body = { scope, period: 'day', max_cost: 5_000_000 };
      const request = { params: { organization_id }, ...key(), body };
      const refused = await server.refused('set_budget', request);
      expect(refused).toMatchObject({ status: 409, error: 'unpriced_model' });
      expect(refused.message).toMatch(/no price: .*poor.*CONVOKE_PRICES.*limit tokens instead/);
    }
    // Nothing was set: runs continue as before.
    await runIn(
      server,
      await startRun(server, await openSession(server, 'free'), 'go'),
      'completed',
    );
  });

  test('a budget of cost counts an agent without a model as free', async () => {
    const session = await openSession(server, 'free');
    const scope = { kind: 'session', id: session.id };
    const { status } = await setBudget({ scope, period: 'day', max_cost: 1 });
    expect(status).toBe(201);
    await runIn(server, await startRun(server, session, 'go'), 'completed');
    await runIn(server, await startRun(server, session, 'go'), 'completed');
  });

  test('a ceiling of cost can be lowered while a model has no price', async () => {
    const scope = { kind: 'agent', id: 'later' };
    await setBudget({ scope, period: 'day', max_cost: 5_000_000 });
    const { status } = await setBudget({ scope, period: 'day', max_cost: 1_000_000, version: 1 });
    expect(status).toBe(200);
  });
});
