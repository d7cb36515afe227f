import { randomUUID } from 'node:crypto';
import { type BenchAgent, agentName } from '../agents.ts';
import { type Address, Client } from '../client.ts';
import type { Scenario } from '../scenario.ts';
import { openStreams } from '../streams.ts';
import { openSessions, startRun } from '../workload.ts';

/** The MCP address of the tenant; a call waits for as long as its run takes. */
function mcpPath({ headers }: Address): string {
  const { 'x-organization-id': organization, 'x-workspace-tenant-id': tenant } = headers;
  return `/v1/mcp/${organization}/${tenant}?wait=600`;
}

/** The call of a tool, as clients of 2025-11-25 send it: answered in a stream. */
function toolCall(name: string, given: Readonly<Record<string, string>>): object {
  const params = { name, arguments: given };
  return { jsonrpc: '2.0', id: randomUUID(), method: 'tools/call', params };
}

const talker: BenchAgent = { deltas: 50 };
const callers = 8;
/** Until V8 has compiled both ways, then those that count. */
const turns = {
  full: { first: 12, counted: 24, calls: 200 },
  quick: { first: 6, counted: 12, calls: 200 },
  smoke: { first: 0, counted: 1, calls: 2 },
} as const;

/** What an assistant's call of an agent costs the server beside the same run of the plain API: one request each. */
export const mcpCalls: Scenario = {
  id: 'mcp-calls',
  targets: ['convoke'],
  agents: () => [talker],
  rows: [
    {
      figure: 'processor',
      title: 'processor time of a call by MCP over a run that is invoked, 50 words',
      unit: 'x',
      better: 'less',
      target: '≤ 1.15x',
    },
  ],

  async slice({ address, scale, usage }) {
    const client = new Client(address, callers);
    const name = agentName(talker);
    const path = mcpPath(address);
    const kinds = {
      plain: async () => {
        const body = { input: { prompt: 'go' }, idempotency_key: randomUUID() };
        const text = await client.text(`/v1/agents/${name}/runs`, { body });
        if (!text.includes('event: run_completed')) throw new Error(`an invoked run: ${text}`);
      },
      mcp: async () => {
        const text = await client.text(path, { body: toolCall(name, { prompt: 'go' }) });
        if (!text.includes('"status":"completed"')) throw new Error(`a call: ${text}`);
      },
    };
    const { first, counted, calls } = turns[scale];
    const least = { plain: Number.POSITIVE_INFINITY, mcp: Number.POSITIVE_INFINITY };
    for (let turn = -first; turn < counted; turn += 1) {
      for (const kind of ['plain', 'mcp'] as const) {
        const before = await usage('usage');
        await Promise.all(Array.from({ length: calls }, kinds[kind]));
        const { cpuUs } = await usage('usage');
        if (turn >= 0) least[kind] = Math.min(least[kind], cpuUs - before.cpuUs);
      }
    }
    client.close();
    return { operations: counted * calls * 2, processor: least.mcp / least.plain };
  },
};

const sleeper: BenchAgent = { deltas: 1, waitMs: 600_000 };
const waits = {
  full: { first: 500, counted: 1000 },
  quick: { first: 500, counted: 1000 },
  smoke: { first: 10, counted: 10 },
} as const;

/** What a waiting call keeps beside a reader of the events of the same run. */
export const mcpWaits: Scenario = {
  id: 'mcp-waits',
  targets: ['convoke'],
  fresh: true,
  agents: () => [sleeper],
  rows: [
    {
      figure: 'memory',
      title:
        'memory of a waiting MCP call over that of an event stream, live JavaScript and buffers',
      unit: 'x',
      better: 'less',
      target: '≤ 1.1x',
    },
    { figure: 'call', title: '… of the call', unit: 'KB', better: 'less', target: '' },
  ],

  async slice({ address, scale, usage }) {
    const { first, counted } = waits[scale];
    const client = new Client(address, first + counted + 1);
    const [session = ''] = await openSessions(client, sleeper, 1);
    const { runId } = await startRun(client, session);
    const events = `/v1/sessions/${session}/runs/${runId}/events`;
    const path = mcpPath(address);
    const kinds = {
      stream: (count: number) => openStreams(client, count, { path: events }),
      call: (count: number) =>
        openStreams(client, count, {
          path,
          body: () => toolCall('convoke_wait', { run_id: runId }),
        }),
    };
    const keptBy = async (open: (count: number) => Promise<() => Promise<void>>) => {
      // The first ones compile code and fill caches, which is not part of the cost of one.
      const closeFirst = await open(first);
      const before = await usage('collected');
      const closeOthers = await open(counted);
      const after = await usage('collected');
      await Promise.all([closeFirst(), closeOthers()]);
      return (after.heapBytes - before.heapBytes) / counted;
    };
    const stream = await keptBy(kinds.stream);
    const call = await keptBy(kinds.call);
    client.close();
    return { operations: counted * 2, memory: call / stream, call: call / 1024 };
  },
};
