import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { listAudit } from '../../src/app/audit.ts';
import { makeOneTimePassword } from '../../src/auth/passwords.ts';
import { answer, begin, logOf, pendingIn } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { addClient } from '../support/identities.ts';
import { requestToken, startServer } from '../support/server.ts';
import { givePassword, password, refresh, signInTerminal } from '../support/sign-in/steps.ts';
import { storedBytes } from '../support/stored-bytes.ts';

describe.each(databaseKinds)('an issued secret, on %s (D-65, invariant 19)', (database) => {
  test('is in no table, database log, audit, event or other answer', async () => {
    const said: string[] = [];
    const server = await startServer({ database });
    const secrets: string[] = [];
    const params = { organization_id: server.quickstart.organization_id };
    // Clients: a client's secret, an added one, and the tokens of both.
    const client = await addClient(server);
    const added = await server.send('add_credential', {
      params: { ...params, client_id: client.record.id },
      headers: { 'idempotency-key': randomUUID() },
      body: { label: 'second' },
    });
    const { client_id, client_secret } = added.body;
    secrets.push(client.client_secret, client_secret);
    for (const secret of [client.client_secret, client_secret]) {
      secrets.push(await requestToken(server.baseUrl, { client_id, client_secret: secret }));
    }
    await requestToken(server.baseUrl, { client_id, client_secret: `${client_secret}x` }).catch(
      () => undefined,
    );
    // Invitations: the secret of a link, and a password chosen with one.
    const invited = {
      params,
      headers: { 'idempotency-key': randomUUID() },
      body: { role: 'viewer' },
    };
    const { secret } = (await server.send('create_invitation', invited)).body;
    const joining = { secret, email: 'joining@convoke.test', password: 'a password of twelve' };
    const { ticket } = (await server.send('sign_up', { body: joining })).body;
    secrets.push(secret, joining.password, ticket);
    // People: passwords, a terminal's tokens, a token from the machine.
    const oneTime = makeOneTimePassword();
    await givePassword(server, { text: oneTime, isOneTime: true });
    await givePassword(server);
    const { program, tokens } = await signInTerminal(server);
    const renewed = await refresh(program, tokens.refresh_token);
    for (const { access_token, refresh_token } of [tokens, renewed]) {
      secrets.push(access_token, refresh_token ?? '');
    }
    secrets.push(oneTime, password, server.quickstart.owner_token, server.quickstart.client_secret);
    // Work that makes events, audit rows and answers.
    const { run } = await begin(server, 'asker', 'a question');
    await answer(server, await pendingIn(server, run.session_id), { answer: 'blue' });
    said.push(JSON.stringify(await logOf(server, run)));
    for (const path of ['/m2m', `/m2m/${client.record.id}`, '/tenants']) {
      const url = `/v1/organizations/${params.organization_id}${path}`;
      said.push((await server.call('GET', url)).text);
    }
    const { store } = server.convoke.services;
    said.push(JSON.stringify(await listAudit({ store }, { limit: 10_000 })));
    said.push(JSON.stringify(server.errors));

    const places = [
      ...(await storedBytes(server, database)),
      ...said.map((text) => Buffer.from(text)),
    ];
    expect(places.some((bytes) => bytes.includes(client.record.id))).toBe(true);
    expect(places.some((bytes) => bytes.includes('token.issue'))).toBe(true);
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(15);
      // The end of a token is its signature; of a secret, all but the prefix and the checksum counts.
      const parts = [secret, secret.split('.').at(-1) ?? secret];
      if (secret.startsWith('cvk_')) parts.push(secret.slice(4, 47));
      for (const part of parts) {
        expect(places.some((bytes) => bytes.includes(part))).toBe(false);
      }
    }
  });
});
