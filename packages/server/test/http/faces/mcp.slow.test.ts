// The MCP face as assistants use it: with the unmodified clients of the protocol's maintainers (D-610 to D-618).
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { addClient } from '../../support/identities.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { type Assistant, type CallResult, type Connecting, mcpClients } from './mcp-clients.ts';

const runOf = ({ structuredContent }: CallResult) => structuredContent?.['run_id'] ?? '';
const sessionOf = ({ structuredContent }: CallResult) => structuredContent?.['session_id'] ?? '';

describe.each(databaseKinds)('on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, env: { CONVOKE_CONSOLE: 'on' } });
  });

  const urlOf = (query = '') => {
    const { organization_id, tenant_id } = server.quickstart;
    return `${server.baseUrl}/v1/mcp/${organization_id}/${tenant_id}${query}`;
  };
  const runsOf = async (result: CallResult) =>
    (await server.send('list_runs', { params: { session_id: sessionOf(result) } })).body.runs;
  const pending = async (result: CallResult) =>
    (
      await server.send('list_interactions', {
        params: { session_id: sessionOf(result) },
        query: { status: 'pending' },
      })
    ).body.interactions;
  const statusOf = async (run_id: string) =>
    (await server.send('find_run', { params: { run_id } })).body.status;

  describe.each(Object.entries(mcpClients))('%s', (_, connectTo) => {
    /** Nothing but the token: these clients know no selector headers. */
    async function connect({
      query = '',
      ...connecting
    }: Partial<Connecting> & { readonly query?: string } = {}): Promise<Assistant> {
      const { authorization = '' } = server.client;
      const assistant = await connectTo({
        url: urlOf(query),
        headers: { authorization },
        ...connecting,
      });
      onTestFinished(() => assistant.close());
      return assistant;
    }

    test('lists agents as tools, calls one, and continues its session', async () => {
      const assistant = await connect({ query: '?agents=sleeper,echo' });
      const names = (await assistant.tools()).map(({ name }) => name);
      expect(names).toEqual([
        'echo',
        'sleeper',
        'convoke_wait',
        'convoke_answer',
        'convoke_cancel',
      ]);
      const first = await assistant.call('echo', { prompt: 'Hello' });
      expect(first.content[0]?.text).toBe('Hello (run 1)');
      expect(first.structuredContent).toMatchObject({ status: 'completed', text: 'Hello (run 1)' });
      const session_id = sessionOf(first);
      const second = await assistant.call('echo', { prompt: 'Again', session_id });
      expect(second.structuredContent).toMatchObject({ session_id, text: 'Again (run 2)' });
    });

    test('a call that takes longer returns the run, which continues until it is cancelled', async () => {
      const assistant = await connect({ query: '?wait=1' });
      const result = await assistant.call('sleeper', { prompt: 'Hello' });
      expect(result.structuredContent).toMatchObject({ status: 'running' });
      expect(result.content[0]?.text).toContain('convoke_wait');
      const run_id = runOf(result);
      const end = await assistant.call('convoke_cancel', { run_id });
      expect(end).toMatchObject({ isError: true, structuredContent: { run_id } });
      await eventually(async () => (await statusOf(run_id)) === 'cancelled');
      const late = await assistant.call('convoke_cancel', { run_id });
      expect(late.structuredContent).toMatchObject({ status: 'cancelled' });
    });

    test('a client that cancels its call ends the waiting, not the run', async () => {
      const assistant = await connect({ query: '?wait=3600' });
      const before = await sleepers();
      const cancelling = new AbortController();
      const called = assistant.call('sleeper', { prompt: 'x' }, { signal: cancelling.signal });
      const outcome = called.catch(() => 'cancelled');
      const run_id = await eventually(async () =>
        (await sleepers()).find((id) => !before.includes(id)),
      );
      await eventually(async () => (await openStreams()) > 0);
      cancelling.abort('the user stopped it');
      expect(await outcome).toBe('cancelled');
      await eventually(async () => (await openStreams()) === 0);
      expect(await statusOf(run_id)).toBe('running');
      await assistant.call('convoke_cancel', { run_id });
    });

    test('without forms a question goes through the model, and a permission cannot', async () => {
      const assistant = await connect();
      const asked = await assistant.call('asker', { prompt: 'you' });
      expect(asked.content[0]?.text).toMatch(/Which colour, you\?\n- red\n- blue: like the sea/);
      const run_id = runOf(asked);
      const wrong = await assistant.call('convoke_answer', { run_id, answer: '7' });
      expect(wrong).toMatchObject({ isError: true });
      const end = await assistant.call('convoke_answer', { run_id, answer: '2' });
      expect(end.structuredContent).toMatchObject({ text: 'Hm. You said blue.', run_id });

      const waiting = await assistant.call('writer', { prompt: 'x' });
      const [said] = waiting.content;
      expect(said?.text).toContain('permission to run write_file. You cannot give it.');
      expect(said?.text).toMatch(/\/console\/t\/ten_\w+\/runs\/run_/);
      const given = { run_id: runOf(waiting), answer: 'allow', decision: 'allow' };
      for (const answer of ['allow', 'yes', '{"decision":"allow"}']) {
        const refused = await assistant.call('convoke_answer', { ...given, answer });
        expect(refused).toMatchObject({ isError: true });
      }
      expect(await assistant.call('convoke_wait', given)).not.toMatchObject({ isError: true });
      expect(await pending(waiting)).toMatchObject([{ kind: 'permission', status: 'pending' }]);
      expect(await runsOf(waiting)).toHaveLength(1);
    });

    test('what is wrong is said in a result', async () => {
      const assistant = await connect({ query: '?agents=echo,failing' });
      for (const [tool, given, said] of [
        ['missing', { prompt: 'Hello' }, 'There is no agent missing.'],
        ['faling', { prompt: 'Hello' }, 'There is no agent faling; did you mean "failing"?'],
        ['asker', { prompt: 'Hello' }, 'There is no agent asker.'],
        ['askr', { prompt: 'Hello' }, 'There is no agent askr.'],
        ['echo', { prompt: 'Hello', session_id: 'sess_x' }, 'echo has no session sess_x'],
        ['echo', { prompt: 7 }, 'prompt must be a string'],
        ['echo', { prompt: 'x', session_id: 'a\u0000' }, 'echo has no session a'],
        ['convoke_wait', { run_id: 'run_x' }, 'There is no run run_x'],
        ['convoke_wait', { run_id: 'a\u0000' }, 'There is no run a'],
        ['failing', { prompt: 'fly' }, 'The run failed: cannot fly (model_error)'],
      ] as const) {
        const result = await assistant.call(tool, given);
        expect(result).toMatchObject({ isError: true });
        expect(result.content[0]?.text).toContain(said);
      }
    });

    test('a run of an agent that is not offered is unknown to the model', async () => {
      const all = await connect();
      const run_id = runOf(await all.call('echo', { prompt: 'Secret' }));
      const some = await connect({ query: '?agents=asker' });
      const result = await some.call('convoke_wait', { run_id });
      expect(result.content[0]?.text).toBe(`There is no run ${run_id}.`);
    });

    test('a tool whose scopes the client lacks is not listed, and cannot be called', async () => {
      const scopes = ['agents:read', 'runs:read', 'interactions:write'] as const;
      const reader = await addClient(server, { profile: 'custom', scopes });
      const { authorization = '' } = reader.in(server.quickstart.tenant_id);
      const assistant = await connect({ headers: { authorization } });
      const names = (await assistant.tools()).map(({ name }) => name);
      expect(names).toEqual(['convoke_wait', 'convoke_answer']);
      await expect(assistant.call('echo', { prompt: 'x' })).rejects.toThrow(/insufficient.scope/i);
    });
  });

  const openStreams = async () => {
    const text = await (await server.fetch('GET', '/metrics')).text();
    return Number(/^convoke_streams_open (\d+)$/m.exec(text)?.[1]);
  };
  const sleepers = async () => {
    const query = { agent_name: 'sleeper', status: 'running' };
    return (await server.send('list_tenant_runs', { query })).body.runs.map(({ id }) => id);
  };
});
