// Two servers behind one address: the one that holds a call of an assistant is killed (D-616).
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { mcpClients } from '../http/faces/mcp-clients.ts';
import { until } from '../support/eventually.ts';
import type { Caller } from './support/caller.ts';
import { askingAgents, blueAndAllow, expectOneRun, runsOfTenant } from './support/mcp-kills.ts';
import { ServerPair } from './support/server-pair.ts';

const minute = 60_000;
vi.setConfig({ testTimeout: 10 * minute, hookTimeout: 10 * minute });

/** More than a call has. */
const messagesMax = 20;
/** Messages of the stream: the place to resume at, two forms and the result. */
const messagesOfCall = 4;
/** Requests of the newer era: the call, and one with each filled-in form. */
const requestsOfCall = 3;

let pair: ServerPair;
let caller: Caller;
beforeAll(async () => {
  pair = await ServerPair.open(askingAgents);
  caller = await pair.caller();
});

interface Killing {
  readonly send: typeof fetch;
  readonly killed: () => Promise<void> | undefined;
}

/** At the server that is alive. */
function reached(input: Parameters<typeof fetch>[0]): string {
  const { pathname, search } = new URL(input instanceof Request ? input.url : input);
  return `${pair.baseUrl}${pathname}${search}`;
}

/** Kills the server that streams after so many messages, once. */
function killingAfter(messages: number): Killing {
  let killing: Promise<void> | undefined;
  const send: typeof fetch = async (input, init) => {
    const response = await fetch(reached(input), init);
    const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
    if (!isStream || response.body === null || killing !== undefined) return response;
    let seen = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        controller.enqueue(chunk);
        seen += new TextDecoder().decode(chunk).split('\n\n').length - 1;
        if (seen < messages || killing !== undefined) return;
        killing = pair.killCurrent();
        await killing;
        controller.error(new Error('the server is gone'));
      },
    });
    return new Response(response.body.pipeThrough(counted), response);
  };
  return { send, killed: () => killing };
}

/** Runs and answers that the tenant has. */
async function effects(): Promise<number> {
  const { interactions } = (await caller.call('GET', '/v1/interactions?status=answered&limit=100'))
    .body as { readonly interactions: readonly object[] };
  return (await runsOfTenant(caller)) + interactions.length;
}

/** Whether the newest run has ended. */
async function isRunOver(): Promise<boolean> {
  const { body } = await caller.call('GET', '/v1/runs?limit=1');
  const { runs } = body as { readonly runs: readonly { readonly status: string }[] };
  return runs[0]?.status === 'completed';
}

type Moment = 'has done what it was asked' | 'has answered';

/**
 * Kills the server with the request number `number` of a call, and sends that request again to the other one, as
 * `convoke mcp` does. What the first one answered is lost. The first request has a key.
 */
function killingAt(number: number, moment: Moment): Killing {
  let killing: Promise<void> | undefined;
  let requests = 0;
  const key = randomUUID();
  const send: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    if (headers.get('mcp-method') !== 'tools/call') return fetch(reached(input), init);
    requests += 1;
    if (requests === 1) headers.set('idempotency-key', key);
    const request = () => fetch(reached(input), { ...init, headers });
    if (requests !== number) return request();
    const before = await effects();
    const first = request().then((response) => response.text());
    if (moment === 'has answered') await first;
    else await until(async () => (await effects()) > before, { what: 'effect of the request' });
    // With the permission the agent writes a file. A machine that is lost before the end of the leg has the only copy.
    if (number === requestsOfCall) await until(isRunOver, { what: 'end of the run' });
    killing = pair.killCurrent();
    await Promise.allSettled([killing, first]);
    return request();
  };
  return { send, killed: () => killing };
}

/** Calls the agent as a person who answers, while a server is killed. */
async function callWith(connectTo: (typeof mcpClients)[string], { send }: Killing) {
  const { shown, fill } = blueAndAllow();
  const runsBefore = await runsOfTenant(caller);
  const assistant = await connectTo({
    url: `${pair.baseUrl}${pair.mcpPath}?wait=600`,
    headers: { authorization: caller.headers['authorization'] ?? '' },
    fetch: send,
    fill,
  });
  onTestFinished(() => assistant.close());
  const result = await assistant.call('both', { prompt: 'Hello' });
  await assistant.close();
  return { result, shown, runsBefore };
}

const isNewer = (name: string) => name.includes('2026');
const clients = Object.entries(mcpClients);

test.each(clients.filter(([name]) => !isNewer(name)))(
  'one run and one answer to each request, whatever is killed (%s)',
  async (_, connectTo) => {
    let kills = 0;
    for (let messages = 1; messages <= messagesMax; messages += 1) {
      await pair.bothAlive();
      const killing = killingAfter(messages);
      const outcome = await callWith(connectTo, killing);
      if (killing.killed() === undefined) break;
      kills += 1;
      await killing.killed();
      await expectOneRun(caller, `killed after ${messages} messages`, outcome);
    }
    expect(kills).toBeGreaterThanOrEqual(messagesOfCall - 1);
  },
);

const moments: readonly Moment[] = ['has done what it was asked', 'has answered'];

test.each(
  clients
    .filter(([name]) => isNewer(name))
    .flatMap(([name, connectTo]) => moments.map((moment) => [moment, name, connectTo] as const)),
)(
  'one run and one answer, whichever request is sent again because its server %s and is killed (%s)',
  async (moment, _, connectTo) => {
    for (let number = 1; number <= requestsOfCall; number += 1) {
      await pair.bothAlive();
      const killing = killingAt(number, moment);
      const outcome = await callWith(connectTo, killing);
      expect([number, killing.killed() !== undefined]).toEqual([number, true]);
      await expectOneRun(caller, `killed at request ${number}`, outcome);
    }
  },
);
