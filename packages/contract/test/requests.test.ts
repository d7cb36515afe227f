import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import {
  type Operation,
  operationList,
  operations,
  permissionAnswer,
  questionAnswer,
  sessionRecord,
} from '../src/index.ts';

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

// Spec §1.2, D-72
describe('a request with an unknown field is rejected', () => {
  // An answer has one of several shapes, a callback is any JSON, and a foreign library owns the bodies of the faces
  // (D-193).
  const isExcepted = ({ id, tag }: Operation) =>
    id === 'answer_interaction' || id === 'receive_callback' || tag === 'Faces';
  const jsonBodies = operationList.filter(
    (operation) => operation.body && operation.content !== 'form' && !isExcepted(operation),
  );

  test.each(jsonBodies.map((operation): [string, Operation] => [operation.id, operation]))(
    'in the body of %s',
    (_, { body }) => {
      const result = body?.safeParse({ surprise: 1 });
      expect(result?.error?.issues.map(({ code }) => code)).toContain('unrecognized_keys');
    },
  );

  const queries = operationList.filter(({ query }) => query !== undefined);
  test.each(queries.map((operation): [string, Operation] => [operation.id, operation]))(
    'in the query of %s',
    (_, { query }) => {
      expect(query?.safeParse({}).success).toBe(true);
      expect(query?.safeParse({ surprise: '1' }).success).toBe(false);
    },
  );
});

test('a page holds 1 to 100 items, 50 by default, newest first (D-71)', () => {
  const { query } = operations.list_sessions;
  expect(query.parse({})).toEqual({ limit: 50, order: 'desc' });
  expect(query.parse({ limit: '100' }).limit).toBe(100);
  for (const limit of ['0', '101', '-1', '1e1', ' 5', '', '5.0', '0x5', 5]) {
    expect(accepts(query, { limit })).toBe(false);
  }
  expect(operations.list_agents.query.parse({}).order).toBe('asc');
  // As many as an organization may have tenants: callers expect all of them.
  for (const id of ['list_workspaces', 'list_tenants'] as const) {
    expect(operations[id].query.parse({}).limit).toBe(100);
  }
});

test('interactions are filtered by their four statuses or all, pending by default (D-37)', () => {
  const { query } = operations.list_interactions;
  expect(query.parse({}).status).toBe('pending');
  expect(query.parse({ status: 'all' }).status).toBe('all');
  expect(accepts(query, { status: 'open' })).toBe(false);
});

describe('text', () => {
  const { body } = operations.add_credential;
  const fits = (label: string) => accepts(body, { label });

  test('is measured in characters, as JSON Schema measures it', () => {
    expect(fits('🌍'.repeat(200))).toBe(true);
    expect(fits('a'.repeat(201))).toBe(false);
    expect(fits('')).toBe(false);
  });

  test.each(['a\u0000b', 'a\nb', '\u001b[31m', '\u007f', '\ud800'])(
    'of one line rejects %j',
    (label) => expect(fits(label)).toBe(false),
  );

  // Spec §2: a label is a non-empty string.
  test.each([' ', '\u00a0\u2003 ', '\u3000'])(
    'of a name rejects %j, which shows nothing',
    (blank) => {
      expect(fits(blank)).toBe(false);
      expect(fits(`${blank}a${blank}`)).toBe(true);
      const client = { name: blank, profile: 'invoke' };
      expect(accepts(operations.create_client.body, client)).toBe(false);
      expect(accepts(operations.update_client.body, { version: 1, name: blank })).toBe(false);
      const tenant = { display_name: blank, mode: 'saas' };
      expect(accepts(operations.create_tenant.body, tenant)).toBe(false);
    },
  );

  test('of many lines keeps its line breaks', () => {
    expect(accepts(operations.cancel_run.body, { reason: 'one\n\ttwo' })).toBe(true);
    expect(accepts(operations.cancel_run.body, { reason: 'one\u0000' })).toBe(false);
  });
});

// D-57 and spec §8
test('idempotency keys have 1 to 256 characters in a body and 8 to 256 in a header', () => {
  const create = (key: string) =>
    accepts(operations.create_session.body, { agent_name: 'demo', idempotency_key: key });
  expect([create('k'), create('k'.repeat(256)), create(''), create('k'.repeat(257))]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  const header = operations.create_tenant.headers['idempotency-key'];
  const tries = ['k'.repeat(8), 'k'.repeat(256), 'k'.repeat(7), 'k'.repeat(257), 'ключ-ключ'];
  expect(tries.map((key) => accepts(header, key))).toEqual([true, true, false, false, true]);
});

test('an absent optional body means the defaults (D-13, D-14)', () => {
  expect(operations.stop_session.body.parse({})).toEqual({ mode: 'suspend' });
  expect(operations.resume_session.body.parse({})).toEqual({});
});

test('the input of a run is an object and nothing else', () => {
  for (const input of ['text', null, [], 3]) {
    expect(accepts(operations.start_run.body, { input })).toBe(false);
  }
  expect(accepts(operations.start_run.body, { input: { prompt: 'hi', deep: [{}] } })).toBe(true);
});

test('a file name is a single path segment (D-40)', () => {
  const fits = (name: string) => accepts(operations.prepare_file.body, { name });
  for (const name of ['report.pdf', '...', 'ö'.repeat(255), ' ']) expect(fits(name)).toBe(true);
  for (const name of ['', '.', '..', 'a/b', 'a\\b', 'a\u0000', 'a\n', 'a'.repeat(256)]) {
    expect(fits(name)).toBe(false);
  }
});

describe('permissions of a client (D-61, D-64)', () => {
  const { body: create } = operations.create_client;
  const { body: update } = operations.update_client;

  test('come from the profile, or from scopes with the profile custom', () => {
    const client = { name: 'n', profile: 'invoke' };
    expect(create.parse(client).expires_in_days).toBe(90);
    expect(accepts(create, { ...client, scopes: ['runs:read'] })).toBe(false);
    expect(accepts(create, { name: 'n', profile: 'custom' })).toBe(false);
    expect(accepts(create, { name: 'n', profile: 'custom', scopes: [] })).toBe(false);
    expect(accepts(create, { name: 'n', profile: 'custom', scopes: ['runs:read'] })).toBe(true);
    const twice = ['runs:read', 'runs:read'];
    expect(accepts(create, { name: 'n', profile: 'custom', scopes: twice })).toBe(false);
  });

  test('expire after 1 to 365 days', () => {
    const lives = (days: unknown) =>
      accepts(create, { name: 'n', profile: 'observe', expires_in_days: days });
    expect([1, 365, 0, 366, 1.5, '90'].map(lives)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  test('change only by a request with a change and the version that was read', () => {
    expect(accepts(update, { version: 1 })).toBe(false);
    expect(accepts(update, { name: 'n' })).toBe(false);
    expect(accepts(update, { version: 1, name: 'n' })).toBe(true);
    expect(accepts(update, { version: 1, profile: 'observe', scopes: ['runs:read'] })).toBe(false);
    expect(accepts(update, { version: 1, profile: 'custom' })).toBe(false);
    // The server knows whether the client is custom.
    expect(accepts(update, { version: 1, scopes: ['runs:read'] })).toBe(true);
    expect(accepts(update, { version: 1, description: null })).toBe(false);
  });

  // The domain refuses this with a code of its own, so it must get past the contract.
  test('may be sent together with a status, which the server rejects with its own code', () => {
    expect(accepts(update, { version: 1, name: 'n', status: 'disabled' })).toBe(true);
  });
});

test('an answer fits one kind of interaction only (D-38)', () => {
  const answers = [
    { decision: 'allow', updated_input: { path: 'a' } },
    { answer: 'blue' },
    { answer: ['a', 'b'] },
    { declined: true, message: 'no' },
    { decision: 'maybe' },
    { decision: 'allow', answer: 'x' },
    { answer: 'x', declined: true },
    { declined: false },
    {},
  ];
  expect(answers.map((answer) => accepts(permissionAnswer, answer))).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(answers.map((answer) => accepts(questionAnswer, answer))).toEqual([
    false,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

// Spec §9.2
test('a response with an unknown field is still parsed', () => {
  const session = {
    id: 'sess_1',
    agent_name: 'demo',
    status: 'idle',
    session_files_supported: false,
    pending_interactions: 0,
    labels: {},
    created_at: '2026-01-15T09:30:00.000Z',
    updated_at: '2026-01-15T09:30:00.000Z',
  };
  expect(sessionRecord.parse({ ...session, novelty: true })).toEqual(session);
});
