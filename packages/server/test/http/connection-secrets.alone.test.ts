// The secrets of connected accounts are in nothing that a server stores, says, logs, traces or exports (D-593, D-603).
import { isTerminalRunStatus } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { listAudit } from '../../src/app/audit.ts';
import { exportDeployment } from '../../src/operate/transfer.ts';
import type { Log } from '../../src/ports/log.ts';
import { AccountService } from '../support/account-service.ts';
import { connectSteps, product } from '../support/connect-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startServer } from '../support/server.ts';
import { storedBytes } from '../support/stored-bytes.ts';
import { SpanReceiver, exportingTo } from '../telemetry/span-receiver.ts';

/** Prints everything that it was given. */
const program = `
import json, os, sys
json.loads(sys.stdin.readline())
names = ["BEARER", "HEADER", "OAUTH", "GITHUB"]
print(json.dumps({"type": "message_delta", "text": " ".join(os.environ[name] for name in names)}), flush=True)
print(" ".join(os.environ[name] for name in names), file=sys.stderr, flush=True)
`;
/** With characters that each encoding writes in its own way. */
const planted = (name: string) => `planted+${name}/of"the=account&here`;
const secrets = {
  bearer: planted('bearer'),
  header: planted('header'),
  access: planted('access'),
  refresh: planted('refresh'),
  client: planted('client-secret'),
};
const tenantAccount = { owner: 'tenant' };

/** A secret as itself, and in the forms in which a careless program would write it. */
function formsOf(secret: string): readonly string[] {
  const inBase64 = [0, 1, 2].map((before) =>
    Buffer.from(`${'x'.repeat(before)}${secret}`)
      .toString('base64')
      .slice(4, -4),
  );
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams({ secret }).toString().slice('secret='.length),
    Buffer.from(secret).toString('hex'),
    ...inBase64,
    ...inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

describe.each(databaseKinds)('on %s', (database) => {
  test('no secret of an account is stored in clear, shown, logged, traced or exported', async () => {
    const service = await AccountService.start();
    const receiver = await SpanReceiver.open();
    const logged: string[] = [];
    const keep = (...parts: readonly unknown[]) => {
      const text = parts.map((part) => (part instanceof Error ? part.stack : JSON.stringify(part)));
      logged.push(text.join(' '));
    };
    const log: Log = { info: keep, warn: keep, error: keep };
    const server = await startServer({
      database,
      log,
      agents: {
        connected: {
          description: 'Prints its secrets',
          framework: 'stdio',
          command: ['python3', './tell.py'],
          connections: {
            one: tenantAccount,
            two: tenantAccount,
            three: tenantAccount,
            github: { owner: 'end_user', oauth: service.declared() },
          },
          env: {
            BEARER: '${connection:one}',
            HEADER: '${connection:two}',
            OAUTH: '${connection:three}',
            GITHUB: '${connection:github}',
          },
        },
      },
      agentFiles: { 'connected/tell.py': program },
      env: {
        ...exportingTo(receiver),
        CONVOKE_TRACE_CONTENT: 'on',
        CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32',
        CONVOKE_CORS_ORIGINS: product,
      },
    });
    await service.register(server.baseUrl);
    const steps = connectSteps(() => ({ server, service }));
    const place = await steps.newTenant();
    const { as, session_id } = place;
    const said: string[] = [];
    const accounts = {
      one: { type: 'bearer', token: secrets.bearer },
      two: { type: 'header', name: 'X-Key', value: secrets.header },
      three: {
        type: 'oauth',
        access_token: secrets.access,
        refresh_token: secrets.refresh,
        token_endpoint: `${service.issuer}/token`,
        client_id: 'x',
        client_secret: secrets.client,
      },
    };
    for (const [name, auth] of Object.entries(accounts)) {
      const call = { as, params: { service: name }, body: { auth } };
      said.push((await server.send('put_connection', call)).text);
    }
    const state = new URL((await steps.begin(place)).connect_url).searchParams.get('state') ?? '';
    const ticket = await steps.ticketOf(place);
    said.push(JSON.stringify(await steps.connected(place, ticket)));
    const signedIn = await steps.secretOf(place);

    const params = { session_id };
    const body = { input: { prompt: 'tell' } };
    const { body: run } = await server.send('start_run', { as, params, body });
    const atRun = { session_id, run_id: run.id };
    const ended = await eventually(async () => {
      const { body: now } = await server.send('get_run', { as, params: atRun });
      return isTerminalRunStatus(now.status) && now;
    });
    expect(ended).toMatchObject({ output_text: '[secret] [secret] [secret] [secret]' });
    const refusedPut = { ...accounts.three, token_endpoint: 'http://10.0.0.1/' };
    const wrong = { as, params: { service: 'three' }, body: { auth: refusedPut } };
    said.push((await server.refused('put_connection', wrong)).text);
    for (const path of ['/v1/connections', '/v1/agents', '/v1/sessions', '/v1/runs', '/v1/usage']) {
      said.push((await server.call('GET', path, { as })).text);
    }
    said.push(
      (
        await server.call('GET', `/v1/sessions/${session_id}/runs/${run.id}/events`, {
          as,
          headers: { accept: 'text/event-stream' },
        })
      ).text,
    );
    said.push(await (await fetch(`${server.baseUrl}/metrics`)).text());
    const { store } = server.convoke.services;
    said.push(JSON.stringify(await listAudit({ store }, { limit: 10_000 })));
    await eventually(() => receiver.of(run.id).some(({ parentSpanId }) => parentSpanId === ''));
    let exported = '';
    for await (const piece of exportDeployment(server.config)) exported += piece;

    const places = {
      stored: Buffer.concat(await storedBytes(server, database)),
      exported: Buffer.from(exported),
      said: Buffer.from(said.join('\n')),
      logged: Buffer.from(logged.join('\n')),
      traced: receiver.bytes,
    };
    expect(places.stored.includes('connection.connect')).toBe(true);
    expect(places.exported.includes(run.id)).toBe(true);
    expect(places.traced.includes(run.id)).toBe(true);
    const all = [
      ...Object.values(secrets),
      AccountService.clientSecret,
      signedIn?.value ?? '',
      signedIn?.refreshToken ?? '',
      state,
      ticket,
    ];
    for (const secret of all) {
      expect(secret.length).toBeGreaterThan(15);
      for (const form of formsOf(secret)) {
        for (const [name, bytes] of Object.entries(places)) {
          expect([name, form, bytes.includes(form)]).toEqual([name, form, false]);
        }
      }
    }
  });
});
