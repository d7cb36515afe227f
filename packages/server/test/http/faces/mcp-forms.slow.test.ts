// Questions and approvals of agents as forms of assistants, and calls whose connection breaks (D-615, D-616).
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { eventually } from '../../support/eventually.ts';
import { addClient } from '../../support/identities.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import {
  type Assistant,
  type CallResult,
  type Connecting,
  type Filled,
  type ShownForm,
  mcpClients,
} from './mcp-clients.ts';

const both = {
  description: 'Asks, then writes',
  approval_required_tools: ['write_*'],
  script: [
    { ask: { question: 'Which colour?', options: ['red', 'blue'] } },
    { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{answer}}' } } },
    { say: 'It is {{answer}}.' },
  ],
};

let server: TestServer;
beforeAll(async () => {
  const env = { CONVOKE_CONSOLE: 'on' };
  server = await startServer({ agents: { ...usualAgents, both }, env });
});

const accept = (content: Record<string, string>): Filled => ({ action: 'accept', content });
const fillIn = (form: ShownForm): Filled =>
  'decision' in form.requestedSchema.properties
    ? accept({ decision: 'allow' })
    : accept({ answer: 'blue' });
const runOf = ({ structuredContent }: CallResult) => structuredContent?.['run_id'] ?? '';
const sessionOf = ({ structuredContent }: CallResult) => structuredContent?.['session_id'] ?? '';

async function pendingOf(session_id: string) {
  const call = { params: { session_id }, query: { status: 'pending' } };
  return (await server.send('list_interactions', call)).body.interactions;
}

async function runsOf(result: CallResult) {
  const call = { params: { session_id: sessionOf(result) } };
  return (await server.send('list_runs', call)).body.runs;
}

/** Waits for a run that asks, and returns where it can be answered. */
function openAsk(agent_name: string) {
  return eventually(async () => {
    const query = { agent_name, status: 'waiting' };
    const { runs } = (await server.send('list_tenant_runs', { query })).body;
    const [run] = runs;
    if (run === undefined) return undefined;
    const [ask] = await pendingOf(run.session_id);
    return ask && { session_id: run.session_id, interaction_key: ask.interaction_key };
  });
}

describe.each(Object.entries(mcpClients))('%s', (_, connectTo) => {
  async function connect({
    query = '',
    ...connecting
  }: Partial<Connecting> & { readonly query?: string } = {}): Promise<Assistant> {
    const { authorization = '' } = server.client;
    const { organization_id, tenant_id } = server.quickstart;
    const url = `${server.baseUrl}/v1/mcp/${organization_id}/${tenant_id}${query}`;
    const assistant = await connectTo({ url, headers: { authorization }, ...connecting });
    onTestFinished(() => assistant.close());
    return assistant;
  }

  test('shows questions and permissions to a person in forms; the tool runs once, in one run', async () => {
    const forms: ShownForm[] = [];
    const fill = (form: ShownForm) => {
      forms.push(form);
      return fillIn(form);
    };
    const result = await (await connect({ fill })).call('both', { prompt: 'Hello' });
    expect(result.structuredContent).toMatchObject({ status: 'completed', text: 'It is blue.' });
    expect(forms).toHaveLength(2);
    expect(forms[0]?.message).toContain('Which colour?');
    expect(forms[1]?.message).toContain('write_file');
    expect(forms[1]?.message).toContain('blue');
    expect(await runsOf(result)).toHaveLength(1);
  });

  test('a form that is declined or closed leaves its request to a person elsewhere', async () => {
    for (const action of ['decline', 'cancel'] as const) {
      const shown: ShownForm[] = [];
      const fill = (form: ShownForm): Filled => {
        shown.push(form);
        return { action };
      };
      const result = await (await connect({ fill })).call('asker', { prompt: 'you' });
      expect(result.structuredContent).toMatchObject({ status: 'waiting' });
      expect(shown).toHaveLength(1);
      expect(await pendingOf(sessionOf(result))).toHaveLength(1);
      await (await connect()).call('convoke_cancel', { run_id: runOf(result) });
    }
  });

  test('a decision that a form does not have decides nothing', async () => {
    const fill = () => accept({ decision: 'perhaps' });
    const result = await (await connect({ fill })).call('writer', { prompt: 'x' });
    expect(result.structuredContent).toMatchObject({ status: 'waiting' });
    expect(await pendingOf(sessionOf(result))).toMatchObject([{ status: 'pending' }]);
    await (await connect()).call('convoke_cancel', { run_id: runOf(result) });
  });

  test('an answer from elsewhere counts while the form is open', async () => {
    const fill = async () => {
      const params = await openAsk('asker');
      await server.send('answer_interaction', { params, body: { answer: 'red' } });
      return accept({ answer: 'blue' });
    };
    const result = await (await connect({ fill })).call('asker', { prompt: 'you' });
    expect(result.structuredContent).toMatchObject({ text: 'Hm. You said red.' });
  });

  test('a client that has only links is sent to the run, and hears of the answer', async () => {
    const urls: (string | undefined)[] = [];
    const fill = async ({ url }: ShownForm): Promise<Filled> => {
      urls.push(url);
      const params = await openAsk('writer');
      await server.send('answer_interaction', { params, body: { decision: 'allow' } });
      return { action: 'accept' };
    };
    const result = await (await connect({ fill, modes: ['url'] })).call('writer', { prompt: 'x' });
    expect(result.structuredContent).toMatchObject({ status: 'completed', text: 'May I? Done.' });
    expect(urls).toHaveLength(1);
    expect(urls[0]).toContain(`/console/t/${server.quickstart.tenant_id}/runs/${runOf(result)}`);
  });

  test('a caller who may not answer sees no form', async () => {
    const scopes = ['agents:read', 'runs:read', 'runs:write', 'sessions:write'] as const;
    const starter = await addClient(server, { profile: 'custom', scopes });
    const { authorization = '' } = starter.in(server.quickstart.tenant_id);
    const assistant = await connect({ fill: fillIn, headers: { authorization } });
    const result = await assistant.call('asker', { prompt: 'you' });
    expect(result.structuredContent).toMatchObject({ status: 'waiting' });
    await (await connect()).call('convoke_cancel', { run_id: runOf(result) });
  });
});

const older = Object.entries(mcpClients).filter(([name]) => !name.includes('2026'));

/** Cuts the stream of a call after so many messages, once; afterwards everything arrives. */
function cutting(after: number): { readonly fetch: typeof fetch; readonly cuts: () => number } {
  let cuts = 0;
  const send: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
    if (!isStream || response.body === null || cuts > 0) return response;
    let frames = 0;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        frames += new TextDecoder().decode(chunk).split('\n\n').length - 1;
        if (cuts === 0 && frames > after) {
          cuts += 1;
          controller.error(new Error('the network is gone'));
        } else controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(cut), response);
  };
  return { fetch: send, cuts: () => cuts };
}

/** Breaks the stream of a call when it is asked to, and says when its client has the beginning of the next one. */
function breaking() {
  let breakNow = () => {};
  const resumed = Promise.withResolvers<void>();
  const send: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
    if (!isStream || response.body === null) return response;
    const passed = new TransformStream<Uint8Array, Uint8Array>({
      start(controller) {
        breakNow = () => controller.error(new Error('the network is gone'));
      },
      transform(chunk, controller) {
        controller.enqueue(chunk);
        if (init?.method === 'GET') resumed.resolve();
      },
    });
    return new Response(response.body.pipeThrough(passed), response);
  };
  return { fetch: send, breakNow: () => breakNow(), resumed: resumed.promise };
}

describe.each(older)('a stream that breaks, with %s', (_, connectTo) => {
  test('a form that is open when its stream breaks is not shown again', async () => {
    const forms: string[] = [];
    const network = breaking();
    const { authorization = '' } = server.client;
    const { organization_id, tenant_id } = server.quickstart;
    const assistant = await connectTo({
      url: `${server.baseUrl}/v1/mcp/${organization_id}/${tenant_id}`,
      headers: { authorization },
      fetch: network.fetch,
      fill: async (form) => {
        forms.push(form.message);
        if (forms.length === 1) {
          network.breakNow();
          await network.resumed;
          // The server has read the log of the run again by then, and would have asked.
          expect(await openAsk('both')).toBeDefined();
        }
        return fillIn(form);
      },
    });
    onTestFinished(() => assistant.close());
    const result = await assistant.call('both', { prompt: 'Hello' });
    expect(result.structuredContent).toMatchObject({ status: 'completed', text: 'It is blue.' });
    expect(forms).toHaveLength(2);
  });

  test('with a form on its way: one run, one answer, no form lost', async () => {
    const forms: string[] = [];
    const cut = cutting(1);
    const { authorization = '' } = server.client;
    const { organization_id, tenant_id } = server.quickstart;
    const assistant = await connectTo({
      url: `${server.baseUrl}/v1/mcp/${organization_id}/${tenant_id}`,
      headers: { authorization },
      fetch: cut.fetch,
      fill: (form) => {
        forms.push(form.message);
        return fillIn(form);
      },
    });
    onTestFinished(() => assistant.close());
    const result = await assistant.call('both', { prompt: 'Hello' });
    expect(result.structuredContent).toMatchObject({ status: 'completed', text: 'It is blue.' });
    expect(cut.cuts()).toBe(1);
    expect(new Set(forms).size).toBe(2);
    expect(await runsOf(result)).toHaveLength(1);
  });
});

test('a client that asks for it hears that a call continues', async () => {
  const [newest] = Object.entries(mcpClients).slice(-1);
  const { authorization = '' } = server.client;
  const { organization_id, tenant_id } = server.quickstart;
  const url = `${server.baseUrl}/v1/mcp/${organization_id}/${tenant_id}?wait=3600`;
  const assistant = await newest?.[1]({ url, headers: { authorization } });
  onTestFinished(() => assistant?.close());
  const heard = await new Promise<number>((resolve, reject) => {
    const onprogress = ({ progress }: { readonly progress: number }) => resolve(progress);
    assistant?.call('sleeper', { prompt: 'x' }, { onprogress }).catch(reject);
  });
  expect(heard).toBe(1);
});

test('a filled-in form answers nothing of an agent that is not offered', async () => {
  const params = {
    session_id: (await server.send('create_session', { body: { agent_name: 'asker' } })).body.id,
  };
  await server.send('start_run', { params, body: { input: { prompt: 'you' } } });
  const [open] = await eventually(async () => {
    const all = await pendingOf(params.session_id);
    return all.length > 0 && all;
  });
  const { organization_id, tenant_id } = server.quickstart;
  const fillFor = async (agent: string) => {
    const answer = await server.call(
      'POST',
      `/v1/mcp/${organization_id}/${tenant_id}?agents=${agent}`,
      {
        headers: { 'mcp-session-id': 'mcp_x.f' },
        body: {
          jsonrpc: '2.0',
          id: `${params.session_id}/${open?.interaction_key}`,
          result: accept({ answer: 'red' }),
        },
      },
    );
    expect(answer.status).toBe(202);
    return (await pendingOf(params.session_id)).length;
  };
  expect(await fillFor('echo')).toBe(1);
  expect(await fillFor('asker')).toBe(0);
});
