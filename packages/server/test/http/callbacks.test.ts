import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { limits, runId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import type { Steps } from '../../../agent/src/steps.ts';
import { callbackUrl } from '../../../agent/src/waits/callback-urls.ts';
import { receiveCallback } from '../../src/app/runs/signals.ts';
import { createCallbacks } from '../../src/auth/callbacks.ts';
import { begin, cancel, ended } from '../support/api-steps.ts';
import { callbackTokenOf, madeWith } from '../support/callback-urls.ts';
import { anonymous } from '../support/checked-calls.ts';
import { FakeClock } from '../support/clocks.ts';
import { addClient, addTenant, firstOrganization } from '../support/identities.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, deployments, startServer } from '../support/server.ts';

const paid = { name: 'paid', number: 'AAAAAAAAAAAAAAAA' };

describe.each(deployments)('callback URLs on %s (D-910)', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    ({ server } = await startPuppetServer({ database }));
  });

  const call = (token: string, body: unknown, type = 'application/json') =>
    server.call('POST', `/v1/callbacks/${token}`, {
      as: anonymous,
      headers: body === undefined ? {} : { 'content-type': type },
      body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body),
    });
  const answerOf = async (token: string, body: unknown, type?: string) => {
    const { status, text } = await call(token, body, type);
    return [status, JSON.parse(text).error ?? text];
  };
  /** Everything that the sender sees of an answer, but the id of its request and the time. */
  const bytesOf = async (answer: ReturnType<typeof call>) => {
    const { status, text, headers } = await answer;
    const seen = [...headers].filter(([name]) => name !== 'date');
    return JSON.stringify([status, seen, text]).replaceAll(JSON.parse(text).request_id, 'req_1');
  };
  const keptOf = async (run: { id: string }) =>
    (await server.convoke.services.store.read.waits.kept(runId(run.id), 'paid'))?.result;
  const countOf = async (run: { id: string }) =>
    (await server.convoke.services.store.read.waits.messages(runId(run.id))).kept;

  test('take one message without a login: again is 200, another body 409 (D-912)', async () => {
    const { run } = await begin(server, 'puppet');
    const token = callbackTokenOf(server, run);
    expect(await answerOf(token, { amount: 20 })).toEqual([202, '{"received":true}']);
    const again = await call(token, { amount: 20 });
    expect([again.status, again.text]).toEqual([200, '{"received":true}']);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await answerOf(token, { amount: 21 })).toEqual([409, 'idempotency_conflict']);
    expect((await call(token, { amount: 21 })).text).toContain('This URL has received another');
    expect(await keptOf(run)).toEqual({ outcome: 'received', data: { amount: 20 } });
    expect(await countOf(run)).toBe(1);
    await cancel(server, run);
    await ended(server, run);
    // Its sender has not heard the answer.
    expect((await answerOf(token, { amount: 20 }))[0]).toBe(200);
  });

  test('are not used up by what is refused before, and take no body as null', async () => {
    const { run } = await begin(server, 'puppet');
    const token = callbackTokenOf(server, run);
    const form = 'application/x-www-form-urlencoded';
    expect(await answerOf(token, 'amount=20', form)).toEqual([415, 'unsupported_media_type']);
    expect(await answerOf(token, '{"amount": 20')).toEqual([400, 'invalid_json']);
    expect(await answerOf(token, '{"amount": 20, "amount": 21}')).toEqual([400, 'duplicate_key']);
    expect(await answerOf(token, '{"__proto__": 1}')).toEqual([400, 'unknown_field']);
    const long = JSON.stringify('x'.repeat(limits.signalBodyMaxBytes));
    expect(await answerOf(token, long)).toEqual([413, 'body_too_large']);
    const read = await server.call('GET', `/v1/callbacks/${token}`, { as: anonymous });
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await countOf(run)).toBe(0);
    expect(await answerOf(token, undefined)).toEqual([202, '{"received":true}']);
    expect(await keptOf(run)).toEqual({ outcome: 'received', data: null });
    await cancel(server, run);
  });

  test('send no more than a run keeps', async () => {
    const { run } = await begin(server, 'puppet');
    const body = { name: 'more' };
    for (let sent = 0; sent < limits.signalsKeptPerRun; sent += 1) {
      await server.send('signal_run', { params: { run_id: run.id }, body });
    }
    const token = callbackTokenOf(server, run);
    expect(await answerOf(token, 1)).toEqual([409, 'signal_limit_reached']);
    await cancel(server, run);
  });

  test('that are unknown, forged or over look the same in every byte', async () => {
    const { run } = await begin(server, 'puppet');
    const { run: over } = await begin(server, 'puppet');
    const right = callbackTokenOf(server, run);
    await cancel(server, over);
    await ended(server, over);
    const tenant = await addTenant(server, 'Leaving');
    const as = (await addClient(server)).in(tenant);
    const session = (await server.send('create_session', { as, body: { agent_name: 'puppet' } }))
      .body;
    const started = await server.send('start_run', {
      as,
      params: { session_id: session.id },
      body: { input: { prompt: 'hi' } },
    });
    const { owner, organization_id } = firstOrganization(server);
    await server.send('offboard_tenant', {
      as: owner,
      params: { organization_id, tenant_id: tenant },
      body: { confirm: tenant },
    });
    const { callbacks } = server.convoke.services;
    const { key } = callbacks.ofRun(runId(run.id));
    const changed = (at: number) =>
      `${right.slice(0, at)}${right.at(at) === 'A' ? 'B' : 'A'}${right.slice(at + 1)}`;
    const tokens = [
      callbackTokenOf(server, { id: 'run_unknown' }),
      callbackTokenOf(server, over),
      callbackTokenOf(server, started.body),
      madeWith(key, { run: over.id, ...paid }),
      madeWith(randomBytes(32).toString('base64url'), { run: run.id, ...paid }),
      changed(right.length - 1),
      changed(right.length - 33),
      right.replace('.paid.', '.pai_.'),
      right.slice(0, -1),
      `${right}A`,
      'x',
      'x'.repeat(500),
    ];
    const refusals = await Promise.all(tokens.map((token) => bytesOf(call(token, { amount: 20 }))));
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toContain('404');
    expect(await countOf(run)).toBe(0);
    await cancel(server, run);
  });

  test('that are over say nothing of the message, whatever is wrong with it (D-1050)', async () => {
    const { run: unused } = await begin(server, 'puppet');
    const { run: used } = await begin(server, 'puppet');
    const [over, spent] = [callbackTokenOf(server, unused), callbackTokenOf(server, used)];
    expect((await call(spent, { amount: 20 })).status).toBe(202);
    for (const run of [unused, used]) {
      await cancel(server, run);
      await ended(server, run);
    }
    const wrong = await bytesOf(call('x', { amount: 20 }));
    const form = 'application/x-www-form-urlencoded';
    const long = JSON.stringify('x'.repeat(limits.signalBodyMaxBytes));
    const messages: [unknown, string?][] = [
      [{ amount: 21 }],
      ['{"amount": 20'],
      ['{"amount": 20, "amount": 21}'],
      ['amount=20', form],
      [long],
    ];
    for (const token of [over, spent, `${over}?x=1`]) {
      for (const [body, type] of messages) {
        expect(await bytesOf(call(token, body, type))).toBe(wrong);
      }
    }
  });

  test('are proved for one message: the proof of one opens no other (D-910)', async () => {
    const { run } = await begin(server, 'puppet');
    const callbacks = server.convoke.services.callbacks.ofRun(runId(run.id));
    // Made as agents make them: a kit and a server could agree on a weaker proof.
    const steps = { refOf: (_: string, ref: string) => ref } as Steps;
    const partsOf = (name: string) =>
      callbackUrl(steps, { callbacks }, name).split('/').at(-1)?.split('.') ?? [];
    const [, , paidNumber, proof] = partsOf('paid');
    const [, , refundNumber] = partsOf('refund');
    const forged = [`paid.${refundNumber}`, `refund.${paidNumber}`, `refund.${refundNumber}`];
    for (const other of forged) {
      expect(await answerOf(`${run.id}.${other}.${proof}`, 1)).toEqual([404, 'not_found']);
    }
    expect(await countOf(run)).toBe(0);
    expect(await answerOf(partsOf('paid').join('.'), 1)).toEqual([202, '{"received":true}']);
    await cancel(server, run);
  });

  test('that no run has made are refused before a byte of the body has arrived', async () => {
    const { run } = await begin(server, 'puppet');
    const stranger = randomBytes(32).toString('base64url');
    for (const token of ['x', madeWith(stranger, { run: run.id, ...paid })]) {
      const silent = request(`${server.baseUrl}/v1/callbacks/${token}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '100' },
      });
      atFileEnd(() => void silent.destroy());
      silent.flushHeaders();
      const [answer] = (await once(silent, 'response')) as [IncomingMessage];
      expect(answer.statusCode).toBe(404);
    }
    await cancel(server, run);
  });

  test('are in the audit with the address, without a login, and without the data', async () => {
    const { run } = await begin(server, 'puppet');
    const token = callbackTokenOf(server, run);
    await call(token, { secret: 'sesame' });
    await call(token, { secret: 'sesame' });
    await server.send('signal_run', {
      params: { run_id: run.id },
      body: { name: 'paid', data: 'sesame', idempotency_key: 'evt_881' },
    });
    const { owner, organization_id } = firstOrganization(server);
    const { body } = await server.send('list_audit', {
      as: owner,
      params: { organization_id },
      query: { object: run.id, action: 'run.signal' },
    });
    expect(body.rows).toMatchObject([
      { actor: { kind: 'client' }, details: { signal: 'paid', idempotency_key: 'evt_881' } },
      {
        actor: { kind: 'anonymous', id: '' },
        address: '127.0.0.1',
        details: { signal: 'paid', callback: true },
      },
    ]);
    expect(JSON.stringify(body)).not.toContain('sesame');
    expect(JSON.stringify(body)).not.toContain(token.slice(-32));
    await cancel(server, run);
  });
});

test('guesses of one network are counted before their bodies are read (D-460)', async () => {
  const server = await startServer({ clock: new FakeClock() });
  const guess = async () => {
    const call = { params: { callback_token: 'x' }, body: 1 };
    return (await server.refused('receive_callback', call)).status;
  };
  for (let sent = 0; sent < limits.callbackRateBurst; sent += 20) {
    const statuses = await Promise.all(Array.from({ length: 20 }, guess));
    expect(new Set(statuses)).toEqual(new Set([404]));
  }
  expect(await guess()).toBe(429);
});

test('a forged token reads nothing: its proof is compared first', async () => {
  const store = new Proxy({} as never, {
    get: () => {
      throw new Error('the database was read');
    },
  });
  const callbacks = createCallbacks(randomBytes(32), 'https://convoke.example');
  const own = callbacks.ofRun(runId('run_1'));
  expect(own.url).toBe('https://convoke.example/v1/callbacks/run_1');
  const by = { kind: 'anonymous', id: '', requestId: 'req_1', address: null } as const;
  const receive = (token: string) =>
    receiveCallback({ store, callbacks } as never, { token, data: null, by });
  const forged = madeWith(own.key, { run: 'run_2', ...paid });
  await expect(receive(forged)).rejects.toMatchObject({ code: 'not_found' });
  await expect(receive(madeWith(own.key, { run: 'run_1', ...paid }))).rejects.toThrow('was read');
});
