import { randomUUID } from 'node:crypto';
import { type BenchAgent, agentName, eventsOf } from './agents.ts';
import type { Client, FollowOptions, FollowedRun } from './client.ts';

export interface StartedRun {
  readonly sessionId: string;
  readonly runId: string;
}

export async function openSessions(
  client: Client,
  agent: BenchAgent,
  count: number,
): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => openSession(client, agent)));
}

async function openSession(client: Client, agent: BenchAgent): Promise<string> {
  const body = { agent_name: agentName(agent), idempotency_key: randomUUID() };
  const answer = await client.post('/v1/sessions', body);
  if (answer.status !== 201) throw new Error(`a session: ${JSON.stringify(answer)}`);
  return String(answer.body['id']);
}

export async function startRun(client: Client, sessionId: string): Promise<StartedRun> {
  const body = { input: { prompt: 'go' }, idempotency_key: randomUUID() };
  const answer = await client.post(`/v1/sessions/${sessionId}/runs`, body);
  if (answer.status !== 201) throw new Error(`a run: ${JSON.stringify(answer)}`);
  return { sessionId, runId: String(answer.body['id']) };
}

export async function followRun(
  client: Client,
  run: StartedRun,
  options?: FollowOptions,
): Promise<FollowedRun> {
  return client.follow(`/v1/sessions/${run.sessionId}/runs/${run.runId}/events`, options);
}

/** Throws unless the stream held the whole run, up to its end. */
export function requireWhole(followed: FollowedRun, agent: BenchAgent): void {
  const expected = eventsOf(agent);
  const { count, lastSeq, ended } = followed;
  if (count === expected && lastSeq === expected && ended) return;
  throw new Error(`expected ${expected} events to the end, got ${JSON.stringify(followed)}`);
}

const patienceMs = 60_000;
const pollMs = 50;

/** When the run ended, by the server's clock, which is this machine's. Asks seldom, to disturb little. */
export async function endOf(client: Client, { sessionId, runId }: StartedRun): Promise<number> {
  for (let waited = 0; waited < patienceMs; waited += pollMs) {
    const { body } = await client.get(`/v1/sessions/${sessionId}/runs/${runId}`);
    if (typeof body['ended_at'] === 'string') {
      if (body['status'] !== 'completed') throw new Error(`a run: ${JSON.stringify(body)}`);
      return Date.parse(body['ended_at']);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`run ${runId} did not end within ${patienceMs} ms`);
}

/** The first run of a session makes its folder; what is measured comes after it. */
export async function warmUp(client: Client, sessions: readonly string[]): Promise<void> {
  await Promise.all(
    sessions.map(async (sessionId) => {
      await followRun(client, await startRun(client, sessionId));
    }),
  );
}

/** Lets `clients` loops work side by side until the time is over, or each has done `most`. */
export async function sideBySide(
  { clients, ms, most = Number.POSITIVE_INFINITY }: { clients: number; ms: number; most?: number },
  once: (client: number, time: number) => Promise<void>,
): Promise<void> {
  const until = performance.now() + ms;
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let time = 0; time < most && performance.now() < until; time += 1) {
        await once(client, time);
      }
    }),
  );
}
