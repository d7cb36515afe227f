import type { OrganizationRule } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { answer, begin, ended, logOf, pendingIn } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { addOrganization } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';

const write = (path: string, text: string) => ({
  tool: { name: 'write_file', input: { path, text } },
});
const agents = {
  writer: {
    description: 'Writes three files',
    script: [write('a.txt', 'secret-input'), write('b.txt', 'x'), write('c.txt', 'y')],
  },
  careful: {
    description: 'Asks before it writes',
    approval_required_tools: ['write_file'],
    script: [write('d.txt', 'z')],
  },
};

const asks: OrganizationRule = {
  name: 'a-and-b',
  tools: ['write_file'],
  when: [{ path: '/path', in: ['a.txt', 'd.txt'] }],
  effect: 'ask',
};
const denies: OrganizationRule = {
  name: 'no-b',
  tools: ['write_*'],
  when: [{ path: '/path', like: 'b*' }],
  effect: 'deny',
};
const idle: OrganizationRule = { name: 'idle', tools: ['refund'], effect: 'deny' };

describe.each(databaseKinds)('rules that are tried on %s (D-526)', (database) => {
  let server: TestServer;
  let params: { readonly organization_id: string };
  beforeAll(async () => {
    server = await startServer({ database, agents });
    params = { organization_id: server.quickstart.organization_id };
    await ended(server, (await begin(server, 'writer')).run);
    const { run } = await begin(server, 'careful');
    await answer(server, await pendingIn(server, run.session_id), { decision: 'allow' });
    await ended(server, run);
  });

  const attempt = async (rules: readonly OrganizationRule[], more: object = {}) =>
    (await server.send('try_rules', { params, body: { rules, ...more } })).body;

  test('show which past calls they would have decided otherwise, and no input', async () => {
    const trial = await attempt([asks, denies, idle]);
    expect(trial).toMatchObject({
      calls: 4,
      changed: 2,
      rules: [
        { name: 'a-and-b', matched: 2 },
        { name: 'no-b', matched: 1 },
        { name: 'idle', matched: 0 },
      ],
    });
    const changes = trial.changes.map(({ before, after, rule }) => `${before} ${after} ${rule}`);
    expect(changes.toSorted()).toEqual(['allow ask a-and-b', 'allow deny no-b']);
    expect(trial.changes[0]).toMatchObject({ agent_name: 'writer', tool_name: 'write_file' });
    expect(trial.next_cursor).toBeUndefined();
    expect(JSON.stringify(trial)).not.toMatch(/secret-input|a\.txt/);
    expect((await server.send('get_rules', { params })).body).toMatchObject({ version: 0 });
  });

  test('say what the rules then really decide about the same calls', async () => {
    const rules = [{ ...denies, when: [{ path: '/path', like: 'a*' }] }];
    const { changes } = await attempt(rules);
    expect(changes).toMatchObject([{ before: 'allow', after: 'deny', rule: 'no-b' }]);
    const { body } = await server.send('set_rules', { params, body: { version: 0, rules } });
    const { run } = await begin(server, 'writer');
    await ended(server, run);
    const decided = (await logOf(server, run)).filter(({ type }) => type === 'call_decided');
    expect(decided).toMatchObject([{ data: { effect: 'deny', rules: [{ name: 'no-b' }] } }]);
    // Now they are the current rules: the draft without them is what changes.
    expect((await attempt([])).changes[0]).toMatchObject({ before: 'deny', after: 'allow' });
    await server.send('set_rules', { params, body: { version: body.version, rules: [] } });
  });

  test('are tried over the calls of one tenant, and of a time', async () => {
    const { tenant_id } = server.quickstart;
    expect((await attempt([idle], { tenant_id })).calls).toBeGreaterThan(0);
    const since = new Date(Date.now() + 60_000).toISOString();
    expect((await attempt([idle], { since })).calls).toBe(0);
    const of = (body: object) => server.refused('try_rules', { params, body });
    expect(await of({ rules: [], tenant_id: 'ten_none' })).toMatchObject({
      error: 'invalid_body',
      message: 'tenant_id: the organization has no tenant ten_none.',
    });
    expect(await of({ rules: [], since: 'yesterday' })).toMatchObject({ error: 'invalid_body' });
    expect(await of({ rules: [], cursor: 'x' })).toMatchObject({ error: 'invalid_cursor' });
    expect(await of({ rules: [{ ...idle, tenants: ['ten_none'] }] })).toMatchObject({
      error: 'invalid_body',
      message: expect.stringContaining('rules[0].tenants[0]'),
    });
    expect(await of({ rules: [{ ...idle, tool: 'x' }] })).toMatchObject({ error: 'unknown_field' });
  });

  test('see no call of another organization', async () => {
    const other = await addOrganization(server, 'Elsewhere');
    const theirs = { organization_id: other.organization_id };
    const body = { rules: [asks] };
    const { body: trial } = await server.send('try_rules', {
      as: other.owner,
      params: theirs,
      body,
    });
    expect(trial).toMatchObject({ calls: 0, changes: [] });
    const { tenant_id } = server.quickstart;
    const asked = { as: other.owner, params: theirs, body: { ...body, tenant_id } };
    expect(await server.refused('try_rules', asked)).toMatchObject({ error: 'invalid_body' });
    expect(await server.refused('try_rules', { as: other.owner, params, body })).toMatchObject({
      status: 403,
    });
  });
});
