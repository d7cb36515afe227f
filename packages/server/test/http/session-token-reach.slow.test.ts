import { type Operation, type OperationId, operations, requiredScopes } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSession } from '../support/api-steps.ts';
import {
  type Answer,
  type Identity,
  type OperationCall,
  pathOf,
} from '../support/checked-calls.ts';
import { type TestServer, bearer, startServer } from '../support/server.ts';
import { changedTables, restingDigests } from '../support/table-digests.ts';
import { type TenantData, fillTenant, tenantDataAgents } from '../support/tenant-data.ts';
import { validCalls } from '../support/valid-calls.ts';

/** What a token for one session opens, and what it does not: every operation (D-198). */

const ids = Object.keys(operations) as OperationId[];
const pageScopes = [
  'sessions:read',
  'runs:read',
  'runs:write',
  'feedback:write',
  'interactions:read',
  'interactions:write',
  'files:read',
  'files:write',
  'connections:read',
  'connections:write',
];

type Verdict = 'public' | 'allowed' | 'lacks scope' | 'forbidden';

/** By the path as it is written, not by the function that the server asks. */
function verdictOn(operation: Operation): Verdict {
  const { id, caller, path } = operation;
  if (caller === 'anonymous') return 'public';
  const isOpen = id === 'whoami' || path.startsWith('/v1/sessions/{session_id}');
  if (!isOpen) return 'forbidden';
  return requiredScopes(operation).every((scope) => pageScopes.includes(scope))
    ? 'allowed'
    : 'lacks scope';
}

const of = (...verdicts: Verdict[]) =>
  ids.filter((id) => verdicts.includes(verdictOn(operations[id])));
const said = ({ status, text }: Answer) => `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`;

let server: TestServer;
let here: TenantData;

beforeAll(async () => {
  server = await startServer({ agents: tenantDataAgents });
  here = await fillTenant(server, 'canaryhere');
});

/** A token alone, with all that it may have: a page sends no selectors. */
async function tokenFor(session_id: string, { as } = here): Promise<Identity> {
  const { body } = await server.send('create_session_token', {
    as,
    params: { session_id },
    body: { scopes: pageScopes },
  });
  return bearer(body.token);
}

/** A token for a session of its own, which has nothing to do with the call. */
async function strangersToken(): Promise<Identity> {
  return tokenFor((await openSession(server, 'echo', { as: here.as })).id);
}

async function ask(id: OperationId, call: OperationCall, as: Identity): Promise<Answer> {
  return server.call(operations[id].method, pathOf(id, call), { ...call, as });
}

test('every operation is of one of four kinds', () => {
  expect(of('allowed').length).toBeGreaterThanOrEqual(15);
  expect(of('lacks scope').toSorted()).toEqual([
    'create_session_token',
    'resume_session',
    'stop_session',
    'update_session',
  ]);
  expect(of('public', 'allowed', 'lacks scope', 'forbidden')).toEqual(ids);
});

test.each(of('allowed'))('%s: works in the session of the token', async (id) => {
  const call = await validCalls[id](server, here);
  const as = await tokenFor(call.params?.['session_id'] ?? here.ids.session_id);
  const { status, text } = await ask(id, call, as);
  expect(Object.keys(operations[id].responses)).toContain(String(status));
  // D-386: of clients and people, a page reads ids and no names.
  expect(text).not.toContain(`Client ${here.word}`);
});

const inSessions = of('allowed').filter((id) => id !== 'whoami');
test.each(inSessions)('%s: another session is one that does not exist', async (id) => {
  const call = await validCalls[id](server, here);
  const missing = { ...call, params: { ...call.params, session_id: 'sess_never' } };
  // What the client itself reads of a session that never was.
  const never = said(await ask(id, missing, here.as));
  expect(never).toMatch(/^404 \{"error":"not_found"/);
  const stranger = await strangersToken();
  expect(said(await ask(id, call, stranger))).toBe(never);
  expect(said(await ask(id, missing, stranger))).toBe(never);
});

test.each(of('lacks scope'))('%s: 403, in its own session as in another', async (id) => {
  const call = await validCalls[id](server, here);
  const own = await tokenFor(call.params?.['session_id'] ?? '');
  for (const as of [own, await strangersToken()]) {
    expect(said(await ask(id, call, as))).toBe('403 {"error":"insufficient_scope",}');
  }
});

describe('everything else', () => {
  const calls = new Map<OperationId, OperationCall>();
  let as: Identity;
  let tables: Record<string, string>;
  beforeAll(async () => {
    for (const id of of('forbidden')) calls.set(id, await validCalls[id](server, here));
    as = await tokenFor(here.ids.session_id);
    tables = await restingDigests(server);
  });

  test.each(of('forbidden'))('%s: 403, with the code only', async (id) => {
    const call = calls.get(id) ?? {};
    expect(said(await ask(id, call, as))).toBe('403 {"error":"forbidden",}');
    // Selectors of the right tenant do not widen it.
    expect(said(await ask(id, call, { ...here.as, ...as }))).toBe('403 {"error":"forbidden",}');
  });

  test('has changed nothing', async () => {
    expect(changedTables(tables, await restingDigests(server))).toEqual([]);
  });
});
