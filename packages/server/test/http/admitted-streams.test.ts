import { once } from 'node:events';
import { type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, Socket, connect } from 'node:net';
import { type Scope, clientId, credentialId, organizationId, tenantId } from '@convoke/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { Refusal } from '../../src/app/refusal.ts';
import type { ApplicationCaller } from '../../src/domain/access.ts';
import { createLocalFanout } from '../../src/fanout/local.ts';
import { AdmittedStreams } from '../../src/http/streams/admitted-streams.ts';
import { EventStreams } from '../../src/http/streams/event-streams.ts';
import { FakeClock } from '../support/clocks.ts';
import { quietLog } from '../support/quiet-log.ts';

interface Stream {
  readonly openedAt: number;
  readonly closing: AbortController;
}

let clock: FakeClock;
let checked: ApplicationCaller[];
/** When credentials were revoked, by id. */
let revoked: Map<string, number>;
let options: ConstructorParameters<typeof AdmittedStreams>[0];
let admitted: AdmittedStreams<Stream>;

beforeEach(() => {
  clock = new FakeClock();
  checked = [];
  revoked = new Map();
  options = {
    clock,
    fanout: createLocalFanout(),
    log: quietLog,
    async recheck(caller) {
      checked.push(caller);
      const { identity } = caller;
      const credential = identity.kind === 'client' ? (identity.credentialId ?? '') : '';
      return { hasAccess: true, revokedAt: revoked.get(credential) };
    },
  };
  admitted = new AdmittedStreams(options);
});

/** What was asked is decided in microtasks, which all end before this does. */
const decided = () => new Promise((resolve) => setImmediate(resolve));

/** A client's caller. Each has objects of its own, as each request has. */
function callerWith({ credential = 'crd_1', scopes = ['runs:read'], lastsMs = 600_000 } = {}) {
  const organization = organizationId('org_1');
  const tenant = { id: tenantId('ten_1'), status: 'active', attachmentState: 'attached' } as const;
  const client = {
    id: clientId('cli_1'),
    organizationId: organization,
    oauthClientId: 'oauth',
    profile: 'custom',
    scopes: [],
    tenantIds: null,
    status: 'active',
    notBefore: 0,
  };
  return {
    kind: 'application',
    actor: { kind: 'client', id: client.id },
    identity: { kind: 'client', client, credentialId: credentialId(credential) },
    organizationId: organization,
    tenant,
    scope: { organizationId: organization, tenantId: tenant.id },
    scopes: new Set(scopes as Scope[]),
    required: ['runs:read'],
    tokenExpiresAt: clock.now() + lastsMs,
    tokenIssuedAt: 0,
    subject: client.id,
  } as unknown as ApplicationCaller;
}

function open(caller: ApplicationCaller) {
  const closing = new AbortController();
  const leave = admitted.add(caller, { closing, openedAt: clock.now() });
  return { isClosed: () => closing.signal.aborted, leave };
}

describe('streams of callers that differ in nothing a decision depends on', () => {
  test('are rechecked once for all of them, and all close when access is lost', async () => {
    const mine = [open(callerWith()), open(callerWith()), open(callerWith())];
    const other = open(callerWith({ credential: 'crd_2' }));
    const narrower = open(callerWith({ scopes: ['runs:read', 'runs:write'] }));
    admitted.recheck();
    expect(checked).toHaveLength(3);
    revoked.set('crd_2', clock.now());
    options.fanout.wake('access:cli_1');
    expect(checked).toHaveLength(6);
    await decided();
    expect(other.isClosed()).toBe(true);
    expect([...mine, narrower].map(({ isClosed }) => isClosed())).not.toContain(true);
    revoked.set('crd_1', clock.now());
    admitted.recheck();
    await decided();
    expect([...mine, narrower].map(({ isClosed }) => isClosed())).not.toContain(false);
  });

  test('stay open until the end of the token if they were opened after its credential was revoked (spec §5.7)', async () => {
    const before = open(callerWith());
    revoked.set('crd_1', clock.now());
    clock.advance(1);
    const after = open(callerWith({ lastsMs: 599_999 }));
    admitted.recheck();
    await decided();
    expect([before.isClosed(), after.isClosed()]).toEqual([true, false]);
    clock.advance(599_999);
    expect(after.isClosed()).toBe(true);
  });

  test('end with their token, and so does one that is opened while the others end', () => {
    const first = open(callerWith());
    const longer = open(callerWith({ lastsMs: 900_000 }));
    const late = callerWith();
    clock.advance(599_999);
    expect(first.isClosed()).toBe(false);
    clock.advance(1);
    expect(first.isClosed()).toBe(true);
    const last = open(late);
    expect(last.isClosed()).toBe(false);
    first.leave();
    clock.advance(0);
    expect(last.isClosed()).toBe(true);
    expect(longer.isClosed()).toBe(false);
    last.leave();
    expect(admitted.size).toBe(1);
  });

  test('leave nothing behind', () => {
    const [first, second] = [open(callerWith()), open(callerWith())];
    first.leave();
    first.leave();
    expect(admitted.size).toBe(1);
    second.leave();
    expect(admitted.size).toBe(0);
    options.fanout.wake('access:cli_1');
    admitted.recheck();
    expect(checked).toEqual([]);
  });
});

/** Sends a request on a connection of its own, and returns the response to write. */
async function requested(): Promise<{ response: ServerResponse; leave: () => Promise<void> }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nauthorization: Bearer secret\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const leave = async () => {
    const closed = once(response, 'close');
    socket.destroy();
    server.close();
    await closed;
  };
  return { response, leave };
}

describe('an event stream', () => {
  const sending = () => {
    const metrics = { eventsDelivered: { add: () => undefined } };
    return new EventStreams({ ...options, metrics, maxAgeMs: 3_600_000 });
  };
  const untilClosed = {
    headers: {},
    names: 'on',
    follow: ({ signal }: { readonly signal: AbortSignal }) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
      }),
  } as const;

  test('forgets the headers of its request, and so the token of its caller', async () => {
    const { response, leave } = await requested();
    const ended = sending().send(response, { caller: callerWith(), ...untilClosed });
    expect(JSON.stringify([response.req.headers, response.req.rawHeaders])).toBe('[{},[]]');
    await leave();
    await ended;
  });

  test('ends at once when its reader left before it was opened', async () => {
    const streams = sending();
    const { response, leave } = await requested();
    await leave();
    await streams.send(response, { caller: callerWith(), ...untilClosed });
    expect(streams.size).toBe(0);
  });
});

describe('a request that is held until its answer is known', () => {
  let streams: EventStreams;
  beforeEach(() => {
    const metrics = { eventsDelivered: { add: () => {} } };
    streams = new EventStreams({ ...options, metrics, maxAgeMs: 3_600_000 });
  });

  /** How the wait ended, and how the request does. */
  function hold(caller: ApplicationCaller, ms = 60_000) {
    const socket = new Socket();
    const known = Promise.withResolvers<void>();
    const wait = ({ signal }: { readonly signal: AbortSignal }) => {
      signal.addEventListener('abort', () => known.resolve());
      return known.promise;
    };
    const outcome = streams.hold({ caller, request: { socket }, ms, wait }).then(
      () => 'an answer',
      (error: unknown) => (error instanceof Refusal ? error.code : 'a fault'),
    );
    return { socket, outcome, answer: () => known.resolve() };
  }

  test('is answered at once, or as it stands when its time or its token is over', async () => {
    const known = hold(callerWith());
    known.answer();
    expect(await known.outcome).toBe('an answer');
    const late = hold(callerWith());
    clock.advance(60_000);
    expect(await late.outcome).toBe('an answer');
    const expiring = hold(callerWith({ lastsMs: 30_000 }));
    clock.advance(29_000);
    expect(await expiring.outcome).toBe('an answer');
    expect(streams.size).toBe(0);
  });

  test('is refused when its client loses access or leaves, and when the server stops', async () => {
    const lost = hold(callerWith());
    revoked.set('crd_1', clock.now());
    options.fanout.wake('access:cli_1');
    expect(await lost.outcome).toBe('not_ready');
    revoked.clear();
    const left = hold(callerWith());
    left.socket.destroy();
    expect(await left.outcome).toBe('not_ready');
    const stopped = hold(callerWith());
    streams.close();
    expect(await stopped.outcome).toBe('not_ready');
    expect(await hold(callerWith()).outcome).toBe('not_ready');
    expect(streams.size).toBe(0);
  });

  test('takes the place of a stream', async () => {
    const metrics = { eventsDelivered: { add: () => {} } };
    const caps = { inAll: 9, perOrganization: 9, perClient: 1 };
    streams = new EventStreams({ ...options, metrics, caps, maxAgeMs: 3_600_000 });
    const first = hold(callerWith());
    expect(await hold(callerWith()).outcome).toBe('rate_limited');
    first.answer();
    expect(await first.outcome).toBe('an answer');
  });
});
