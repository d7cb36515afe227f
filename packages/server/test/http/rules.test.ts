import { type OrganizationRule, limits } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Organization, addOrganization, addPerson, addTenant } from '../support/identities.ts';
import { databaseKinds } from '../support/databases.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { addMember } from '../support/sign-in/console.ts';

const agents = {
  desk: { description: 'Has two tools', tools: ['refund', 'mail/*'], script: [{ say: 'Hello.' }] },
  other: { description: 'Has another tool', tools: ['read_file'], script: [{ say: 'Hello.' }] },
  hidden: {
    description: 'Is of no tenant here',
    tenants: { default: 'disabled', allow: ['ten_elsewhere'] },
    script: [{ say: 'Hello.' }],
  },
};

const rule = (change: object = {}) => ({
  name: 'refunds',
  tools: ['refund'],
  effect: 'ask' as const,
  ...change,
});

describe.each(databaseKinds)('the rules of an organization on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents });
  });

  async function setUp() {
    const organization = await addOrganization(server, 'Ruled');
    const params = { organization_id: organization.organization_id };
    const as = organization.owner;
    const get = async () => (await server.send('get_rules', { as, params })).body;
    const set = async (version: number, rules: readonly object[], by = as) =>
      (await server.send('set_rules', { as: by, params, body: { version, rules } })).body;
    const refused = (version: number, rules: readonly object[], by = as) =>
      server.refused('set_rules', { as: by, params, body: { version, rules } });
    return { organization, params, as, get, set, refused };
  }

  const updates = async ({ organization_id, owner: as }: Organization) => {
    const query = { action: 'rules.update' };
    const { body } = await server.send('list_audit', { as, params: { organization_id }, query });
    return body.rows;
  };

  test('are one document that is read as it was written (D-501)', async () => {
    const { organization, get, set } = await setUp();
    expect(await get()).toEqual({ version: 0, rules: [], warnings: [] });
    const tenant = await addTenant(server, 'Ours', organization);
    const rules: readonly OrganizationRule[] = [
      {
        name: 'big-refunds',
        agents: ['desk', 'des*'],
        tenants: [tenant],
        tools: ['refund'],
        when: [
          { path: '/amount', gt: 500 },
          { path: '/currency', in: ['EUR', null] },
        ],
        effect: 'ask',
        approvers: { role: 'admin', people: 1, not_starter: true },
        wait_hours: 0.5,
        on_expiry: 'deny',
        reason: 'Refunds above 500.',
      },
      { name: 'mail', tools: ['mail/*'], effect: 'deny', observe: true },
    ];
    const written = await set(0, rules);
    expect(written).toMatchObject({ version: 1, rules, warnings: [] });
    expect(written.updated_by).toMatch(/^usr_/);
    expect(written.updated_by_name).toBeTypeOf('string');
    expect(await get()).toEqual(written);
    expect(await set(1, [])).toMatchObject({ version: 2, rules: [], warnings: [] });
  });

  test('are replaced by their version only, and an equal document changes nothing (D-527)', async () => {
    const { organization, get, set, refused } = await setUp();
    await set(0, [rule()]);
    expect(await refused(0, [rule({ effect: 'deny' })])).toMatchObject({
      status: 409,
      error: 'version_conflict',
      message: 'The rules have version 1 now.',
    });
    const same = await get();
    const turned = { effect: 'ask', tools: ['refund'], name: 'refunds' };
    for (const version of [0, 1, 7]) expect(await set(version, [turned])).toEqual(same);
    expect(await updates(organization)).toHaveLength(1);
    expect(await set(1, [rule({ effect: 'deny' })])).toMatchObject({ version: 2 });
  });

  test('of two changes to one version, one is made', async () => {
    const { get, set, params, as } = await setUp();
    await set(0, [rule()]);
    const change = (reason: string) =>
      server.call('PUT', `/v1/organizations/${params.organization_id}/rules`, {
        as,
        body: { version: 1, rules: [rule({ reason })] },
      });
    const answers = await Promise.all(['one', 'two', 'three'].map(change));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(await get()).toMatchObject({ version: 2 });
  });

  test('are for owners and admins, and for owners where a rule names them (D-527)', async () => {
    const { organization, set, refused, params } = await setUp();
    const forbidden = { status: 403, error: 'forbidden' };
    const admin = await addPerson(server, organization.organization_id, 'admin');
    const operator = await addPerson(server, organization.organization_id, 'operator');
    const stranger = (await addOrganization(server, 'Strangers')).owner;
    await set(0, [rule()], admin);
    for (const as of [operator, stranger]) {
      expect(await server.refused('get_rules', { as, params })).toMatchObject(forbidden);
      expect(await refused(1, [], as)).toMatchObject(forbidden);
    }
    const ofOwners = rule({ approvers: { role: 'owner' } });
    expect(await refused(1, [ofOwners], admin)).toMatchObject(forbidden);
    await set(1, [ofOwners]);
    expect(await refused(2, [rule()], admin)).toMatchObject({
      ...forbidden,
      message: 'A rule names owners as approvers, so only an owner replaces the rules.',
    });
    expect((await server.send('get_rules', { as: admin, params })).body).toMatchObject({
      version: 2,
    });
    await set(2, [rule()]);
    expect(await set(3, [], admin)).toMatchObject({ version: 4 });
  });

  test('are audited with their names and their digest, without what they compare (D-524)', async () => {
    const { organization, set } = await setUp();
    await set(0, [rule(), rule({ name: 'gone' })]);
    await set(1, [rule({ when: [{ path: '/iban', eq: 'DE02' }] }), rule({ name: 'new' })]);
    const [second, first] = await updates(organization);
    expect(first).toMatchObject({
      actor: { kind: 'user' },
      details: { version: 1, added: ['refunds', 'gone'], changed: [], removed: [] },
    });
    expect(second).toMatchObject({
      object: organization.organization_id,
      outcome: 'done',
      details: { version: 2, added: ['new'], changed: ['refunds'], removed: ['gone'] },
    });
    expect(second?.details['sha256']).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(second)).not.toContain('DE02');
  });

  test('keep a tenant that has been offboarded since (D-768)', async () => {
    const { organization, params, as, set, refused } = await setUp();
    const tenant_id = await addTenant(server, 'Leaving', organization);
    await set(0, [rule({ tenants: [tenant_id] })]);
    const body = { confirm: tenant_id };
    await server.send('offboard_tenant', { as, params: { ...params, tenant_id }, body });
    const more = [rule({ tenants: [tenant_id] }), rule({ name: 'b', effect: 'deny' })];
    expect(await set(1, more)).toMatchObject({ version: 2 });
    await set(2, []);
    expect(await refused(3, more)).toMatchObject({ error: 'invalid_body' });
  });

  test('come with warnings about the agents and people of now (D-528)', async () => {
    const { organization, get, set } = await setUp();
    const two = { role: 'admin', people: 2 };
    const { warnings } = await set(0, [
      rule({ name: 'two', approvers: two }),
      rule({ name: 'typo', agents: ['dsek', 'hidden'] }),
      rule({ name: 'wrong', agents: ['other'] }),
      rule({ name: 'after', agents: ['desk'], effect: 'deny' }),
    ]);
    expect(warnings).toEqual([
      {
        rule: 'two',
        code: 'too_few_approvers',
        message: '2 people are needed; 1 is admin or owner.',
      },
      { rule: 'typo', code: 'unknown_agent', message: 'No agent has the name dsek or hidden.' },
      { rule: 'typo', code: 'unreachable', message: expect.any(String) },
      { rule: 'wrong', code: 'unknown_tool', message: 'refund is not a tool of other.' },
      { rule: 'wrong', code: 'unreachable', message: expect.any(String) },
      {
        rule: 'after',
        code: 'unreachable',
        message: 'The rule two above it decides about every call that it names.',
      },
    ]);
    await addMember(server, 'admin', organization.organization_id);
    const later = (await get()).warnings.map(({ code }) => code);
    expect(later).not.toContain('too_few_approvers');
    expect(later).toHaveLength(5);
  });
});

describe('a document of rules', () => {
  let server: TestServer;
  let of: { readonly params: { readonly organization_id: string } };
  beforeAll(async () => {
    server = await startServer();
    of = { params: { organization_id: server.quickstart.organization_id } };
  });

  const condition = (change: object) => [
    rule({ name: 'first' }),
    rule({ when: [{ path: '/a', ...change }] }),
  ];
  test.each<[string, readonly object[], string]>([
    ['a key that is unknown', [rule({ tool: 'x' })], 'unknown_field rules[0].tool'],
    [
      'an unknown key of approvers',
      [rule({ approvers: { group: 'x' } })],
      'unknown_field rules[0].approvers.group',
    ],
    ['an unknown comparison', condition({ above: 1 }), 'unknown_field rules[1].when[0].above'],
    ['two comparisons', condition({ eq: 1, ne: 2 }), 'invalid_body rules[1].when[0]:'],
    ['no comparison', condition({}), 'invalid_body rules[1].when[0]:'],
    ['a number as text', condition({ gt: '5' }), 'invalid_body rules[1].when[0].gt:'],
    ['an object to compare with', condition({ eq: {} }), 'invalid_body rules[1].when[0].eq:'],
    ['a list with an object', condition({ in: [1, {}] }), 'invalid_body rules[1].when[0].in[1]:'],
    [
      'a path without a slash',
      condition({ path: 'a', eq: 1 }),
      'invalid_body rules[1].when[0].path:',
    ],
    [
      'the path of the whole input',
      condition({ path: '', eq: 1 }),
      'invalid_body rules[1].when[0].path:',
    ],
    ['a wrong escape', condition({ path: '/a~2', eq: 1 }), 'invalid_body rules[1].when[0].path:'],
    [
      '17 levels',
      condition({ path: '/a'.repeat(17), eq: 1 }),
      'invalid_body rules[1].when[0].path:',
    ],
    [
      'a path of 201 characters',
      condition({ path: `/${'a'.repeat(200)}`, eq: 1 }),
      'invalid_body rules[1].when[0].path:',
    ],
    ['no values', condition({ in: [] }), 'invalid_body rules[1].when[0].in:'],
    [
      '101 values',
      condition({ in: Array.from({ length: 101 }, (_, n) => n) }),
      'invalid_body rules[1].when[0].in:',
    ],
    [
      'nine conditions',
      [rule({ when: Array.from({ length: 9 }, (_, n) => ({ path: '/a', ne: n })) })],
      'invalid_body rules[0].when:',
    ],
    ['a name twice', [rule(), rule()], 'invalid_body rules[1].name:'],
    ['a name of 65 characters', [rule({ name: 'a'.repeat(65) })], 'invalid_body rules[0].name:'],
    ['a name with a space', [rule({ name: 'a b' })], 'invalid_body rules[0].name:'],
    ['no tools', [rule({ tools: [] })], 'invalid_body rules[0].tools:'],
    [
      '21 tools',
      [rule({ tools: Array.from({ length: 21 }, (_, n) => `t${n}`) })],
      'invalid_body rules[0].tools:',
    ],
    ['an unknown effect', [rule({ effect: 'maybe' })], 'invalid_body rules[0].effect:'],
    ['a reason of two lines', [rule({ reason: 'a\nb' })], 'invalid_body rules[0].reason:'],
    [
      'a reason of 501 characters',
      [rule({ reason: 'a'.repeat(501) })],
      'invalid_body rules[0].reason:',
    ],
    [
      'people and clients',
      [rule({ approvers: { people: 2, clients: true } })],
      'invalid_body rules[0].approvers.clients:',
    ],
    [
      'people and end users',
      [rule({ approvers: { people: 2, end_users: true } })],
      'invalid_body rules[0].approvers.end_users:',
    ],
    [
      'not the starter, but end users',
      [rule({ approvers: { not_starter: true, end_users: true } })],
      'invalid_body rules[0].approvers.end_users:',
    ],
    [
      'people and a memory',
      [rule({ approvers: { people: 2 }, remember: 'exact' })],
      'invalid_body rules[0].remember:',
    ],
    ['six people', [rule({ approvers: { people: 6 } })], 'invalid_body rules[0].approvers.people:'],
    [
      'an observed allow',
      [rule({ effect: 'allow', observe: true })],
      'invalid_body rules[0].observe:',
    ],
    [
      'approvers of a denial',
      [rule({ effect: 'deny', approvers: {} })],
      'invalid_body rules[0].approvers:',
    ],
    ['no time to wait', [rule({ wait_hours: 0 })], 'invalid_body rules[0].wait_hours:'],
    ['more than a year to wait', [rule({ wait_hours: 8761 })], 'invalid_body rules[0].wait_hours:'],
    [
      'a tenant that does not exist',
      [rule(), rule({ name: 'b', tenants: ['ten_none'] })],
      'invalid_body rules[1].tenants[0]:',
    ],
    [
      '101 rules',
      Array.from({ length: limits.rulesMax + 1 }, (_, n) => rule({ name: `r${n}` })),
      'invalid_body rules:',
    ],
    [
      'more than 64 KiB',
      Array.from({ length: 100 }, (_, n) =>
        rule({ name: `r${n}`, tools: Array.from({ length: 5 }, () => 'x'.repeat(190)) }),
      ),
      'invalid_body rules:',
    ],
  ])('with %s is refused with its place (D-501, D-502, D-512)', async (_, rules, expected) => {
    const { error, message } = await server.refused('set_rules', {
      ...of,
      body: { version: 0, rules },
    });
    expect(`${error} ${message}`.slice(0, expected.length)).toBe(expected);
    expect((await server.send('get_rules', of)).body).toMatchObject({ version: 0 });
  });
});
