// A person adds the MCP address to an assistant, signs in, and lets it use the agents of a tenant (D-619 to D-623).
// The OAuth code is that of the protocol's maintainers, unchanged.
import { organizationId } from '@convoke/contract';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { listAudit } from '../../../src/app/audit.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import {
  AssistantSignIn,
  answerConsent,
  isConsent,
  mcpUrl,
  oauthClients,
  openConsent,
  redirectUrl,
  signInAssistant,
} from '../../support/sign-in/assistants.ts';
import { DocumentServer } from '../../support/sign-in/client-documents.ts';
import { givePassword, ownerId } from '../../support/sign-in/steps.ts';

describe.each(databaseKinds)('on %s', (database) => {
  let server: TestServer;
  let clientId: string;
  beforeAll(async () => {
    const documents = await DocumentServer.start();
    server = await startServer({ database, env: documents.settings });
    clientId = documents.publish('/client.json');
    await givePassword(server);
  });

  describe.each(Object.entries(oauthClients))('%s', (_, make) => {
    test('signs in from the address alone, calls an agent, and renews its token', async () => {
      const { client, signIn } = await signInAssistant(server, make, {
        clientId,
        url: `${mcpUrl(server)}?agents=echo`,
      });
      const first = signIn.saved;
      expect(first?.scope?.split(' ')).toContain('runs:write');
      const assistant = await client.connect();
      onTestFinished(() => assistant.close());
      expect(await assistant.tools()).toContain('echo');
      const result = await assistant.call('echo', { prompt: 'Hello' });
      expect(result).toMatchObject({ structuredContent: { status: 'completed' } });
      // The session is the person's own, as one that they open in the console (D-592).
      const { sessions } = (await server.send('list_sessions', { query: { limit: '1' } })).body;
      expect(sessions).toMatchObject([{ end_user: await ownerId(server) }]);

      // A token that the server refuses is renewed by the package, without the person.
      signIn.saved = { ...first, access_token: `${first?.access_token}x` };
      signIn.sentTo = undefined;
      expect(await assistant.call('echo', { prompt: 'Again' })).toMatchObject({
        structuredContent: { status: 'completed' },
      });
      expect(signIn.sentTo).toBeUndefined();
      expect(signIn.saved?.refresh_token).not.toBe(first?.refresh_token);
    });

    test('a person who declines gives no code', async () => {
      const signIn = new AssistantSignIn(clientId);
      await expect(make(mcpUrl(server), signIn).connect()).rejects.toThrow(/unauthorized/i);
      const browser = await openConsent(server, signIn.sentTo ?? '');
      expect(isConsent(browser.page)).toBe(true);
      const answer = await answerConsent(browser, 'cancel');
      expect(answer.href.startsWith(redirectUrl)).toBe(true);
      expect(Object.fromEntries(answer.searchParams)).toMatchObject({
        error: 'access_denied',
        state: 'state-1',
        iss: server.baseUrl,
      });
    });
  });

  test('the token is written down with its client and its tenant', async () => {
    const [make] = Object.values(oauthClients);
    if (make === undefined) throw new Error('no client');
    await signInAssistant(server, make, { clientId });
    const { store } = server.convoke.services;
    const chain = organizationId(server.quickstart.organization_id);
    const rows = await listAudit({ store }, { chain, limit: 5 });
    expect(rows.find(({ action }) => action === 'token.issue')).toMatchObject({
      by: { kind: 'user', id: await ownerId(server) },
      details: { client: clientId, tenant_id: server.quickstart.tenant_id },
    });
  });
});
