import { randomUUID } from 'node:crypto';
import {
  type Operation,
  type OperationId,
  errors,
  limits,
  operations,
  pathParams,
} from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSession } from '../support/api-steps.ts';
import { type OperationCall, checkAnswer, operationAt, pathOf } from '../support/checked-calls.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { changedTables, restingDigests } from '../support/table-digests.ts';
import {
  type TenantData,
  fillFirstOrganization,
  tenantDataAgents,
} from '../support/tenant-data.ts';
import { validCalls } from '../support/valid-calls.ts';

let server: TestServer;
let world: TenantData;
let tables: Record<string, string>;
const calls = new Map<OperationId, OperationCall>();
beforeAll(async () => {
  server = await startServer({ agents: tenantDataAgents });
  world = await fillFirstOrganization(server, 'errors');
  for (const id of ids) calls.set(id, await validCalls[id](server, world));
  tables = await restingDigests(server);
});

const ids = Object.keys(operations) as OperationId[];
const callOf = (id: OperationId) => calls.get(id) ?? {};
const where = (choose: (operation: Operation) => boolean) =>
  ids.filter((id) => choose(operations[id]));
// What is wrong with a call of JSON-RPC is said in that protocol.
const otherwise: readonly (string | undefined)[] = ['form', 'json-rpc'];
// Any JSON is a callback: `callbacks.test.ts`.
const withJson = where(
  ({ body, content, absentBody }) =>
    body !== undefined && absentBody !== null && !otherwise.includes(content),
);
const requiringBody = withJson.filter((id) => (operations[id] as Operation).bodyRequired);

/** Sends a body unchanged in an otherwise valid call. */
async function sendBody(id: OperationId, body: string | Uint8Array, type = 'application/json') {
  const call = callOf(id);
  const headers = { ...call.headers, 'content-type': type };
  return server.refused(id, { ...call, headers, body });
}

describe('one table of codes (D-70)', () => {
  test('every code is well formed, with an error status and a message', () => {
    for (const [code, { status, message }] of Object.entries(errors)) {
      expect(code).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(message).toMatch(/^.{9,}\.$/);
    }
  });
});

describe('an invalid JSON body (D-72)', () => {
  test.each(withJson)('%s: malformed JSON is invalid_json', async (id) => {
    for (const body of ['{', 'nonsense', '{"a":1}}', "{'a':1}", '{"a":01}', '\u0000']) {
      expect(await sendBody(id, body)).toMatchObject({ status: 400, error: 'invalid_json' });
    }
  });

  test.each(withJson)('%s: invalid UTF-8 is invalid_json', async (id) => {
    const body = Buffer.concat([
      Buffer.from('{"a":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ]);
    expect(await sendBody(id, body)).toMatchObject({ status: 400, error: 'invalid_json' });
  });

  test.each(withJson)('%s: nesting deeper than 64 is invalid_json, and says so', async (id) => {
    const deep = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    const refused = await sendBody(id, deep(65));
    expect(refused).toMatchObject({ status: 400, error: 'invalid_json' });
    expect(refused.message).toContain('64');
    expect((await sendBody(id, deep(64))).error).not.toBe('invalid_json');
  });

  test.each(withJson)('%s: a repeated key is duplicate_key, at any depth', async (id) => {
    for (const body of ['{"a":1,"a":1}', '{"x":{"a":1,"\\u0061":2}}', '{"x":[{"b":1,"b":2}]}']) {
      expect(await sendBody(id, body)).toMatchObject({ status: 400, error: 'duplicate_key' });
    }
    const long = await sendBody(id, `{"${'s'.repeat(1500)}":1,"${'s'.repeat(1500)}":1}`);
    expect([long.error, long.text.length < 500]).toEqual(['duplicate_key', true]);
  });

  test.each(withJson)('%s: __proto__ is refused, at any depth', async (id) => {
    for (const body of ['{"__proto__":{"a":1}}', '{"x":{"\\u005f_proto__":1}}']) {
      expect(await sendBody(id, body)).toMatchObject({ status: 400, error: 'unknown_field' });
    }
  });

  // The kind of the interaction decides which answers are valid (D-38).
  // A message of a chat library has the library's fields (D-193).
  const loose: readonly OperationId[] = [
    'answer_interaction',
    'send_ui_message',
    'run_ag_ui',
    'run_session_ag_ui',
  ];
  const strict = withJson.filter((id) => !loose.includes(id));
  test.each(strict)('%s: an unknown field is named', async (id) => {
    const { body } = callOf(id);
    const right = typeof body === 'object' ? { ...body } : {};
    for (const name of ['surprise', 'constructor', 'toString']) {
      const refused = await sendBody(id, JSON.stringify({ ...right, [name]: 1 }));
      expect(refused).toMatchObject({ status: 400, error: 'unknown_field' });
      expect(refused.message).toContain(name);
    }
    const long = await sendBody(id, JSON.stringify({ ...right, ['s'.repeat(1500)]: 1 }));
    expect([long.error, long.text.length < 500]).toEqual(['unknown_field', true]);
  });

  test.each(requiringBody)('%s: no body at all is invalid_body', async (id) => {
    const { as, params, headers } = callOf(id);
    const missing = await server.refused(id, { as, params, headers } as OperationCall);
    expect(missing).toMatchObject({ status: 400, error: 'invalid_body' });
  });

  test.each(withJson)('%s: a body that is not an object is invalid_body', async (id) => {
    for (const body of ['null', '[]', '"text"', '7']) {
      expect(await sendBody(id, body)).toMatchObject({ status: 400, error: 'invalid_body' });
    }
  });

  test.each(withJson)('%s: too many fields are invalid_json', async (id) => {
    const { maxBytes = limits.bodyMaxBytes }: Operation = operations[id];
    const names = Array.from({ length: 10_001 }, (_, index) => `"f${index}":0`);
    const body = `{${names.join(',')}}`;
    const isTooLong = body.length > maxBytes;
    expect(await sendBody(id, body)).toMatchObject(
      isTooLong ? { status: 413 } : { status: 400, error: 'invalid_json' },
    );
  });

  test.each(withJson)('%s: more than its largest body is 413, announced or not', async (id) => {
    const { maxBytes = limits.bodyMaxBytes }: Operation = operations[id];
    const body = `{"a":"${'x'.repeat(maxBytes)}"}`;
    expect(await sendBody(id, body)).toMatchObject({ status: 413, error: 'body_too_large' });
    const call = callOf(id);
    const announced = await sendRaw(server, {
      method: operations[id].method,
      path: pathOf(id, call),
      headers: [
        ...Object.entries(call.as ?? {}),
        ...Object.entries(call.headers ?? {}),
        ['content-type', 'application/json'],
        ['content-length', String(2 ** 30)],
      ],
      body: '{',
    });
    expect(announced.status).toBe(413);
  });

  test.each(withJson)('%s: another media type or an encoding is 415', async (id) => {
    const { body } = callOf(id);
    const text = JSON.stringify(body ?? {});
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      expect(await sendBody(id, text, type)).toMatchObject({
        status: 415,
        error: 'unsupported_media_type',
      });
    }
    const call = callOf(id);
    const headers = { ...call.headers, 'content-encoding': 'gzip' };
    expect(await server.refused(id, { ...call, headers, body: { a: 1 } })).toMatchObject({
      status: 415,
      error: 'unsupported_media_type',
    });
  });

  test('an invalid value is named by its path', async () => {
    const params = { session_id: world.ids.session_id };
    for (const [id, body, name] of [
      ['create_session', { agent_name: 7 }, 'agent_name'],
      ['create_session', {}, 'agent_name'],
      ['create_session', { agent_name: 'echo', idempotency_key: '' }, 'idempotency_key'],
      [
        'create_session',
        { agent_name: 'echo', idempotency_key: 'x'.repeat(257) },
        'idempotency_key',
      ],
      ['create_session', { agent_name: 'echo', idempotency_key: 'a\u0000' }, 'idempotency_key'],
      ['start_run', { input: 'text' }, 'input'],
      ['start_run', { input: [] }, 'input'],
      ['prepare_file', { name: 'a', size_bytes: '1' }, 'size_bytes'],
      ['stop_session', { mode: 'nap' }, 'mode'],
      ['stop_session', { reason: 'x'.repeat(2001) }, 'reason'],
    ] as const) {
      const refused = await server.refused(id, { as: world.as, params, body });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_body' });
      expect(refused.message).toContain(name);
    }
  });
});

describe('a body that is not declared (spec §1.2, §9.2)', () => {
  const withoutBody = where(({ body, content }) => body === undefined && content !== 'bytes');

  const sendBytes = async (id: OperationId, headers: [string, string][], body: string) => {
    const call = callOf(id);
    const { method } = operations[id];
    const path = pathOf(id, call);
    const sent = Object.entries({ ...call.as, ...call.headers });
    const answer = await sendRaw(server, { method, path, headers: [...sent, ...headers], body });
    checkAnswer(operationAt(method, path), answer);
    return answer;
  };

  test.each(withoutBody)('%s: any byte of a body is refused, not ignored', async (id) => {
    for (const [header, body] of [
      [['content-length', '2'], '{}'],
      [['transfer-encoding', 'chunked'], '2\r\n{}\r\n0\r\n\r\n'],
    ] as const) {
      const { status, text } = await sendBytes(id, [[...header]], body);
      expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_body']);
    }
  });

  test('an empty body is no body', async () => {
    for (const [header, body] of [
      [['content-length', '0'], ''],
      [['transfer-encoding', 'chunked'], '0\r\n\r\n'],
    ] as const) {
      expect((await sendBytes('get_session', [[...header]], body)).status).toBe(200);
    }
  });
});

describe('a query that is not declared (D-71)', () => {
  test.each(ids)('%s: an unknown parameter is refused by name', async (id) => {
    const call = callOf(id);
    const refused = await server.refused(id, { ...call, query: 'surprise=1' });
    expect(refused).toMatchObject({ status: 400, error: 'unknown_query_parameter' });
    expect(refused.message).toContain('surprise');
  });

  test.each(where(({ query }) => query !== undefined && 'event_names' in query.shape))(
    '%s: event names that are there twice, or neither on nor off, are refused',
    async (id) => {
      for (const query of ['event_names=on&event_names=on', 'event_names=', 'event_names=yes']) {
        const refused = await server.refused(id, { ...callOf(id), query });
        expect(refused).toMatchObject({ status: 400, error: 'invalid_query' });
        expect(refused.message).toContain('event_names');
      }
    },
  );

  test.each(where(({ query }) => query !== undefined && 'cursor' in query.shape))(
    '%s: a parameter that is there twice, or a wrong page, is refused',
    async (id) => {
      const call = callOf(id);
      for (const query of ['limit=1&limit=1', 'limit=0', 'limit=101', 'limit=1e1', 'limit=']) {
        expect(await server.refused(id, { ...call, query })).toMatchObject({
          status: 400,
          error: 'invalid_query',
        });
      }
      for (const cursor of ['x', 'YQ.AAAAAAAAAAAAAAAAAAAAAA', '%00', 'x'.repeat(2000)]) {
        const query = `cursor=${cursor}`;
        expect(await server.refused(id, { ...call, query })).toMatchObject({
          status: 400,
          error: 'invalid_cursor',
        });
      }
    },
  );

  test.each(where(({ query }) => query !== undefined && 'status' in query.shape))(
    '%s: an unknown status is invalid_status',
    async (id) => {
      const refused = await server.refused(id, { ...callOf(id), query: 'status=asleep' });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_status' });
    },
  );
});

describe('an Idempotency-Key header (spec §8)', () => {
  const withKey = where(({ headers }) => headers !== undefined && 'idempotency-key' in headers);
  const isRequired = (id: OperationId) => {
    const { headers }: Operation = operations[id];
    return headers?.['idempotency-key']?.safeParse(undefined).success === false;
  };
  const refusalWith = async (id: OperationId, key: string | undefined) => {
    const call = callOf(id);
    const { 'idempotency-key': _, ...headers } = call.headers ?? {};
    const sent = key === undefined ? {} : { 'idempotency-key': key };
    return server.refused(id, { ...call, headers: { ...headers, ...sent } });
  };
  const invalidKey = { status: 400, error: 'invalid_idempotency_key' };

  test.each(withKey)('%s: empty, long or not printable is refused', async (id) => {
    for (const key of ['', 'x'.repeat(257), 'tab\tinside-12']) {
      expect(await refusalWith(id, key)).toMatchObject(invalidKey);
    }
  });

  test.each(withKey.filter(isRequired))('%s: missing or short is refused', async (id) => {
    for (const key of [undefined, 'short', 'schlüss']) {
      expect(await refusalWith(id, key)).toMatchObject(invalidKey);
    }
  });

  test('sent twice is refused, though the joined values would be long enough', async () => {
    const id = 'create_client';
    const call = callOf(id);
    const text = JSON.stringify(call.body);
    const { status, text: answer } = await sendRaw(server, {
      method: operations[id].method,
      path: pathOf(id, call),
      headers: [
        ...Object.entries(call.as ?? {}),
        ['content-type', 'application/json'],
        ['content-length', String(text.length)],
        ['idempotency-key', 'one'],
        ['Idempotency-Key', 'two'],
      ],
      body: text,
    });
    expect([status, answer]).toEqual([400, expect.stringContaining('invalid_idempotency_key')]);
  });
});

describe('after all of these', () => {
  test('nothing has changed in the database', async () => {
    expect(changedTables(tables, await restingDigests(server))).toEqual([]);
  });

  test('an Idempotency-Key has any characters, and is the same key as Latin-1 and as UTF-8 (spec §8)', async () => {
    const id = 'create_tenant';
    const call = await validCalls[id](server, world);
    const sendKey = async (key: Buffer) =>
      server.send(id, { ...call, headers: { 'idempotency-key': key.toString('latin1') } });
    const text = `clé-${randomUUID()}`;
    const { body: made } = await sendKey(Buffer.from(text, 'latin1'));
    const { body: again, headers } = await sendKey(Buffer.from(text, 'utf8'));
    expect([again.id, headers.get('idempotency-replayed')]).toEqual([made.id, 'true']);
    await sendKey(Buffer.from(`ключ-${randomUUID()}`, 'utf8'));
  });

  test('the type may have parameters and any case', async () => {
    const { body } = callOf('create_session');
    const { status } = await server.send('create_session', {
      as: world.as,
      headers: { 'content-type': 'Application/JSON; charset=utf-8' },
      body: JSON.stringify(body),
    });
    expect(status).toBe(201);
  });
});

describe('the order of refusals (D-52)', () => {
  test('a malformed request is reported before a missing resource', async () => {
    const session = await openSession(server, 'echo');
    for (const session_id of ['sess_never', 'not an id', 'ü']) {
      const params = { session_id, run_id: 'run_never', file_id: 'file_never' };
      const as = world.as;
      expect(await server.refused('start_run', { as, params, body: {} })).toMatchObject({
        status: 400,
        error: 'invalid_body',
      });
      expect(await server.refused('list_runs', { as, params, query: 'x=1' })).toMatchObject({
        status: 400,
        error: 'unknown_query_parameter',
      });
      expect(await server.refused('get_run', { as, params })).toMatchObject({ status: 404 });
    }
    expect(session.status).toBe('idle');
  });

  test.each(where(({ path }) => pathParams(path).length > 0))(
    '%s: an id that cannot be one is a 404 like any other, never a 500 (D-01)',
    async (id) => {
      const call = callOf(id);
      // A chat library chooses the id of its chat; the session is named before it.
      const free = ['organization_id', 'chat_id'];
      // A tenant that the path selects is the gate's to refuse (D-234).
      if ('selectors' in operations[id]) free.push('tenant_id');
      const names = pathParams(operations[id].path).filter((name) => !free.includes(name));
      for (const name of names) {
        for (const value of ['x'.repeat(65), 'ä', 'a b', "'; drop table runs; --", '%00', '..']) {
          if (value === '..' || (value === '%00' && name === 'agent_name')) continue;
          const params = { ...call.params, [name]: value };
          const body = id === 'offboard_tenant' ? { confirm: value } : call.body;
          const refused = await server.refused(id, { ...call, params, body });
          expect(refused.status).toBe(404);
        }
      }
    },
  );
});
