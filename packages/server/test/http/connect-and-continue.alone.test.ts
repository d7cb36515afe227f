// A run asks for an account with a link, and continues when the account is connected: with a program as agent, over
// HTTP.
import { isTerminalRunStatus } from '@convoke/contract';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AccountService, signInAt } from '../support/account-service.ts';
import type { Identity } from '../support/checked-calls.ts';
import { type Place, connectSteps, product } from '../support/connect-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { assistantToken, mcpUrl } from '../support/sign-in/assistants.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';
import { TestChat } from './faces/chat.ts';
import { type ShownForm, mcpClients } from './faces/mcp-clients.ts';

/** Says what it got, reversed, so that the redaction of the leg does not hide it from the test. */
const program = `
import json, os, sys
json.loads(sys.stdin.readline())
print(json.dumps({"type": "message_delta", "text": os.environ["GITHUB_TOKEN"][::-1]}), flush=True)
`;
const connectPage = `${product}/connect?session={session_id}&service={service}`;

describe.each(databaseKinds)('on %s', (database) => {
  let service: AccountService;
  let server: TestServer;
  beforeAll(async () => {
    service = await AccountService.start();
    server = await startServer({
      database,
      agents: {
        connected: {
          description: 'Tells its token',
          framework: 'stdio',
          command: ['python3', './tell.py'],
          connections: { github: { owner: 'end_user', oauth: service.declared() } },
          env: { GITHUB_TOKEN: '${connection:github}' },
        },
      },
      agentFiles: { 'connected/tell.py': program },
      env: {
        CONVOKE_CONSOLE: 'on',
        CONVOKE_CONNECT_URL: connectPage,
        CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32',
        CONVOKE_CORS_ORIGINS: product,
      },
    });
    await service.register(server.baseUrl);
  });
  const steps = connectSteps(() => ({ server, service }));
  const { newTenant, begin, signIn, callback, ticketOf, connected, refused } = steps;

  const start = async ({ as, session_id }: Place) => {
    const params = { session_id };
    const body = { input: { prompt: 'tell' } };
    return (await server.send('start_run', { as, params, body })).body.id;
  };
  const pendingOf = async ({ as, session_id }: Place) => {
    const call = { as, params: { session_id }, query: { status: 'pending' } };
    return (await server.send('list_interactions', call)).body.interactions;
  };
  const asked = (place: Place) => eventually(async () => (await pendingOf(place))[0]);
  /** Whose account the agent has used. */
  const ownerUsedBy = async ({ as, session_id }: Place, run_id: string) => {
    const params = { session_id, run_id };
    const run = await eventually(async () => {
      const { body } = await server.send('get_run', { as, params });
      return isTerminalRunStatus(body.status) && body;
    });
    expect(run.status).toBe('completed');
    return service.ownerOf(
      Array.from(run.output_text ?? '')
        .toReversed()
        .join(''),
    );
  };

  test('the question stays while connecting fails, and the run continues with the account that signed in', async () => {
    const place = await newTenant();
    const run = await start(place);
    const question = await asked(place);
    const url = `${product}/connect?session=${place.session_id}&service=github`;
    expect(question).toMatchObject({
      question: `Connect github to continue: ${url}`,
      about: { kind: 'connection_missing', service: 'github', owner: 'end_user', url },
    });
    const declined = await callback(await signIn(place, { refuse: 'yes' }));
    expect(declined.query.get('error')).toBe('access_denied');
    const failed = await signIn(place);
    failed.searchParams.set('code', 'a-code-of-another-person');
    expect((await callback(failed)).query.get('error')).toBe('connect_failed');
    const other = { ...place, session_id: await place.open('u-18') };
    expect(await refused(other, await ticketOf(place))).toEqual([400, 'invalid_ticket']);
    // Returned and not finished: the account is not connected yet.
    const ticket = await ticketOf(place);
    expect(await pendingOf(place)).toMatchObject([{ interaction_key: question.interaction_key }]);
    await connected(place, ticket);
    expect(await ownerUsedBy(place, run)).toBe('ann');
    expect(await pendingOf(place)).toEqual([]);
  });

  test('a person is asked for the own account at the page of the console, and nobody else connects it (D-942)', async () => {
    const [me, colleague] = [await addMember(server, 'operator'), await addMember(server, 'admin')];
    const as = await asPerson(server, me);
    const body = { agent_name: 'connected' };
    const { id: session_id } = (await server.send('create_session', { as, body })).body;
    const mine = { as, session_id };
    const run = await start(mine);
    const { about } = await asked(mine);
    const { tenant_id } = server.quickstart;
    const page = `${server.baseUrl}/console/t/${tenant_id}/connect/${session_id}/github`;
    expect(about).toMatchObject({ service: 'github', url: page });
    const begun = await begin(mine, page);
    const returned = await callback(await signInAt(service, begun.connect_url, { name: 'me' }));
    expect(returned.location).toContain(`${page}?service=github&ticket=`);
    const ticket = returned.query.get('ticket') ?? '';
    const theirs = { as: await asPerson(server, colleague), session_id };
    expect(await refused(theirs, ticket)).toEqual([403, 'forbidden']);
    expect(await pendingOf(mine)).toHaveLength(1);
    await connected(mine, ticket);
    expect(await ownerUsedBy(mine, run)).toBe('me');
  });

  const newSession = async (as: Identity, end_user: string): Promise<Place> => {
    const body = { agent_name: 'connected', end_user };
    return { as, session_id: (await server.send('create_session', { as, body })).body.id };
  };
  const runIn = async ({ as, session_id }: Place) => {
    const { body } = await server.send('list_runs', { as, params: { session_id } });
    return body.runs[0]?.id ?? '';
  };

  test('chat pages get the link with the question', async () => {
    const as = server.client;
    const link = (place: Place) => `${product}/connect?session=${place.session_id}&service=github`;
    const place = await newSession(as, `u-chat-${database}`);
    const chat = new TestChat(server, place.session_id);
    await chat.sendMessage({ text: 'tell' });
    expect(chat.calls).toMatchObject([{ input: { about: { url: link(place) } } }]);
    await connected(place, await ticketOf(place));
    expect(await ownerUsedBy(place, await runIn(place))).toBe('ann');

    const other = await newSession(as, `u-ag-ui-${database}`);
    const { session_id } = other;
    const sent = await server.call('POST', `/v1/sessions/${session_id}/ag-ui`, {
      as,
      headers: { accept: 'text/event-stream' },
      body: {
        threadId: session_id,
        runId: 'run-1',
        messages: [{ id: 'm-1', role: 'user', content: 'tell' }],
        tools: [],
        context: [],
        state: {},
        forwardedProps: {},
      },
    });
    expect([sent.status, sent.text]).toEqual([200, expect.stringContaining(link(other))]);
    await connected(other, await ticketOf(other));
    expect(await ownerUsedBy(other, await runIn(other))).toBe('ann');
  });

  test.each(Object.entries(mcpClients))(
    'an assistant that opens links opens it, and its call gets the result (%s)',
    async (_, connectTo) => {
      const person = await addMember(server, 'operator');
      const as = await asPerson(server, person);
      const shown: ShownForm[] = [];
      const token = await assistantToken(server, person);
      const assistant = await connectTo({
        url: mcpUrl(server),
        headers: { authorization: `Bearer ${token}` },
        modes: ['form', 'url'],
        fill: async (form) => {
          shown.push(form);
          const session_id = /\/connect\/(sess_\w+)\//.exec(form.url ?? '')?.[1] ?? '';
          const mine = { as, session_id };
          const begun = await begin(mine, form.url ?? '');
          const back = await callback(await signInAt(service, begun.connect_url, { name: 'eve' }));
          await connected(mine, back.query.get('ticket') ?? '');
          return { action: 'accept' };
        },
      });
      onTestFinished(() => assistant.close());
      const result = await assistant.call('connected', { prompt: 'tell' });
      expect(result.structuredContent).toMatchObject({ status: 'completed' });
      const told = result.structuredContent?.['text'] ?? '';
      expect(await service.ownerOf(Array.from(told).toReversed().join(''))).toBe('eve');
      expect(shown.map(({ mode }) => mode)).toEqual(['url']);
    },
  );

  test('an assistant without links is told which link its user needs', async () => {
    const person = await addMember(server, 'operator');
    const token = await assistantToken(server, person);
    const [connectTo] = Object.values(mcpClients);
    const assistant = await connectTo?.({
      url: mcpUrl(server),
      headers: { authorization: `Bearer ${token}` },
    });
    onTestFinished(() => assistant?.close());
    const result = await assistant?.call('connected', { prompt: 'tell' });
    const told = result?.content.map(({ text }) => text).join('\n') ?? '';
    expect(told).toMatch(/Give the user this link/);
    expect(told).toMatch(
      /Connect github to continue: http:\S+\/console\/t\/ten_\w+\/connect\/sess_/,
    );
  });
});
