import { type OperationId, operations, pathParams } from '@convoke/contract';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ended, openSession, startRun } from '../support/api-steps.ts';
import { type OperationCall, pathOf } from '../support/checked-calls.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { fillFirstOrganization, tenantDataAgents } from '../support/tenant-data.ts';
import { validCalls } from '../support/valid-calls.ts';

/** How many invalid calls of each kind each operation gets. Every answer is checked against the contract as well. */
const numRuns = 15;

const ids = Object.keys(operations) as OperationId[];
const calls = new Map<OperationId, OperationCall>();
let server: TestServer;
beforeAll(async () => {
  // An `Accept` for anything turns the feed into a stream, which ends only by its age.
  const env = { CONVOKE_STREAM_MAX_AGE_SECONDS: '1' };
  server = await startServer({ agents: tenantDataAgents, env });
  const world = await fillFirstOrganization(server, 'input');
  for (const id of ids) calls.set(id, await validCalls[id](server, world));
  // The stream of a waiting run would not end; that of an ended run does.
  const run = await startRun(server, await openSession(server, 'echo'), 'x');
  await ended(server, run);
  const params = { session_id: run.session_id, run_id: run.id };
  calls.set('follow_run_events', { as: server.client, params });
  calls.set('resume_ui_stream', { as: server.client, params: { ...params, chat_id: 'chat' } });
});

const callOf = (id: OperationId) => calls.get(id) ?? {};

/** Sends a call and returns the answer if it is a server error. */
async function faultOf(id: OperationId, call: OperationCall): Promise<string | undefined> {
  const { status, text } = await server.call(operations[id].method, pathOf(id, call), call);
  if (status < 400) return undefined;
  return status >= 500 || typeof errorIn(id, text) !== 'string' ? `${status} ${text}` : undefined;
}

function errorIn(id: OperationId, text: string): unknown {
  const { error } = JSON.parse(text);
  // The Model Context Protocol answers a message with an error of JSON-RPC.
  return id === 'call_mcp' && typeof error === 'object' ? error?.message : error;
}

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', '\u0000', '\ud800', '__proto__', '../../etc/passwd', "' or 1=1 --", '{{x}}'),
  fc.constantFrom('x'.repeat(300), 'é'.repeat(200), '9'.repeat(400), '-1', '1e999', 'NaN', 'null'),
);
const value = fc.oneof(nasty, fc.jsonValue({ maxDepth: 3 }), fc.double(), fc.bigInt().map(String));

/** A body that is almost valid, or arbitrary. */
function bodyNear(right: unknown): fc.Arbitrary<string> {
  const fields = typeof right === 'object' && right !== null ? Object.keys(right) : [];
  const name = fc.oneof(nasty, fc.constantFrom('a', ...fields));
  const base = typeof right === 'object' && right !== null ? { ...right } : {};
  const changed = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 4 }).map((changes) => {
    // Not by spread: `__proto__` must arrive as a name.
    const members = new Map<string, unknown>([...Object.entries(base), ...changes]);
    const texts = Array.from(members, ([key, item]) => `${JSON.stringify(key)}:${jsonOf(item)}`);
    return `{${texts.join(',')}}`;
  });
  const shortened = fc
    .tuple(fc.constant(JSON.stringify(base)), fc.nat(100))
    .map(([text, cut]) => text.slice(0, cut % (text.length + 1)));
  return fc.oneof(
    { weight: 4, arbitrary: changed },
    { weight: 1, arbitrary: shortened },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 6 }).map(jsonOf) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  );
}

function jsonOf(item: unknown): string {
  return JSON.stringify(item) ?? 'null';
}

describe('any input gets a declared answer', () => {
  const withBody = ids.filter((id) => {
    const operation = operations[id];
    return 'body' in operation || 'content' in operation;
  });

  test.each(withBody)('%s: any body', async (id) => {
    const call = callOf(id);
    const headers = { 'content-type': 'application/json', ...call.headers };
    await fc.assert(
      fc.asyncProperty(bodyNear(call.body), async (body) => {
        expect(await faultOf(id, { ...call, headers, body })).toBeUndefined();
      }),
      { numRuns },
    );
  });

  test.each(withBody)('%s: any bytes', async (id) => {
    const call = callOf(id);
    const types = fc.constantFrom(
      'application/json',
      'application/x-www-form-urlencoded',
      'text/plain',
      'multipart/form-data; boundary=x',
      '',
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), types, async (bytes, type) => {
        const body = new Uint8Array(bytes);
        const headers = { ...call.headers, 'content-type': type };
        expect(await faultOf(id, { ...call, headers, body })).toBeUndefined();
      }),
      { numRuns },
    );
  });

  test.each(ids)('%s: any query', async (id) => {
    const call = callOf(id);
    const known = ['limit', 'cursor', 'order', 'status', 'agent_name'];
    const pair = fc.tuple(
      fc.oneof(fc.constantFrom(...known), nasty),
      fc.oneof(nasty, fc.constantFrom('1', '100', 'asc', 'pending', 'idle')),
    );
    const encoded = fc
      .array(pair, { maxLength: 4 })
      .map((pairs) => new URLSearchParams(Object.fromEntries(pairs)).toString());
    const raw = fc.stringMatching(/^[!-"$-~]{0,60}$/);
    await fc.assert(
      fc.asyncProperty(fc.oneof(encoded, raw), async (query) => {
        expect(await faultOf(id, { ...call, query })).toBeUndefined();
      }),
      { numRuns },
    );
  });

  test.each(ids.filter((id) => pathParams(operations[id].path).length > 0))(
    '%s: any id',
    async (id) => {
      const call = callOf(id);
      const name = fc.constantFrom(...pathParams(operations[id].path));
      // A lone surrogate has no form in a URL, an empty or dotted segment makes another path, and so does
      // a slash or a colon where a verb follows.
      const isElsewhere = operations[id].path.includes(':') ? /^\.{0,2}$|[/:]/ : /^\.{0,2}$/;
      const segment = nasty.filter((text) => text.isWellFormed() && !isElsewhere.test(text));
      await fc.assert(
        fc.asyncProperty(name, segment, async (param, text) => {
          const params = { ...call.params, [param]: text };
          expect(await faultOf(id, { ...call, params })).toBeUndefined();
        }),
        { numRuns },
      );
    },
  );

  test.each(ids)('%s: any header', async (id) => {
    const call = callOf(id);
    const name = fc.constantFrom(
      'accept',
      'authorization',
      'content-type',
      'content-encoding',
      'idempotency-key',
      'last-event-id',
      'range',
      'x-organization-id',
      'x-tenant-id',
      'x-workspace-tenant-id',
      'x-request-id',
      'expect',
      'cookie',
      '__proto__',
    );
    const text = fc.oneof(
      fc.stringMatching(/^[ -~]{0,80}$/),
      fc.stringMatching(/^[\u0080-\u00ff]{1,20}$/),
      fc.constantFrom(
        'bytes=0-',
        'bytes=-1',
        '*/*',
        'application/json',
        '000000000001',
        '100-continue',
      ),
    );
    const { method } = operations[id];
    const headers = fc.array(fc.tuple(name, text), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(headers, async (more) => {
        const answer = await sendRaw(server, {
          method,
          path: pathOf(id, call),
          headers: [...Object.entries({ ...call.as, ...call.headers }), ...more],
        });
        expect(answer.status).toBeLessThan(500);
        const isRefusal = answer.status >= 400;
        expect(isRefusal ? typeof errorIn(id, answer.text) : 'string').toBe('string');
      }),
      { numRuns, examples: [[[['accept', '*/*']]]] },
    );
  });
});

describe('any bytes on the connection', () => {
  test('get an answer or a close, and the server continues', async () => {
    const path = fc.oneof(
      fc.stringMatching(/^\/[!-~]{0,120}$/),
      fc.constantFrom('/v1/../v1/whoami', '/v1/sessions/%2e%2e', '//', '/v1/sessions/%00', '*'),
    );
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'TRACE', 'FOO');
    await fc.assert(
      fc.asyncProperty(method, path, async (verb, target) => {
        const answer = await sendRaw(server, {
          method: verb,
          path: target,
          headers: Object.entries(server.client),
        });
        expect(answer.status).toBeLessThan(500);
      }),
      { numRuns: 100 },
    );
    expect((await server.send('get_readiness')).status).toBe(200);
  });
});
