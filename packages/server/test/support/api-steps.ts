import {
  type InteractionRecord,
  type RunEvent,
  type RunRecord,
  type RunStatus,
  type SessionRecord,
  eventTypes,
  isTerminalRunStatus,
} from '@convoke/contract';
import type { Identity, Result } from './checked-calls.ts';
import type { EventReader } from './event-reader.ts';
import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';

/** Steps of tests: the calls that a product's backend makes all day. */

interface From {
  readonly as?: Identity;
}

export async function openSession(
  server: TestServer,
  agentName: string,
  from: From = {},
): Promise<SessionRecord> {
  const { body } = await server.send('create_session', {
    ...from,
    body: { agent_name: agentName },
  });
  return body;
}

export async function startRun(
  server: TestServer,
  session: Pick<SessionRecord, 'id'>,
  prompt: string,
): Promise<RunRecord> {
  const { body } = await server.send('start_run', {
    params: { session_id: session.id },
    body: { input: { prompt } },
  });
  return body;
}

/** A session with one run in it. */
export async function begin(
  server: TestServer,
  agentName: string,
  prompt = 'hello',
): Promise<{ session: SessionRecord; run: RunRecord }> {
  const session = await openSession(server, agentName);
  return { session, run: await startRun(server, session, prompt) };
}

type RunPlace = Pick<RunRecord, 'id' | 'session_id'>;

export function at(run: RunPlace): { readonly session_id: string; readonly run_id: string } {
  return { session_id: run.session_id, run_id: run.id };
}

export async function readRun(server: TestServer, run: RunPlace): Promise<RunRecord> {
  return (await server.send('get_run', { params: at(run) })).body;
}

export async function readSession(server: TestServer, id: string): Promise<SessionRecord> {
  return (await server.send('get_session', { params: { session_id: id } })).body;
}

/** The run once it is in this state. */
export async function runIn(
  server: TestServer,
  run: RunPlace,
  status: RunStatus,
): Promise<RunRecord> {
  return eventually(async () => {
    const read = await readRun(server, run);
    if (read.status !== status && isTerminalRunStatus(read.status)) {
      throw new Error(`the run ended ${read.status}: ${read.error_message ?? ''}`);
    }
    return read.status === status && read;
  });
}

/** The run once it has ended, however. */
export async function ended(server: TestServer, run: RunPlace): Promise<RunRecord> {
  return eventually(async () => {
    const read = await readRun(server, run);
    return isTerminalRunStatus(read.status) && read;
  });
}

export async function sessionIn(
  server: TestServer,
  id: string,
  status: SessionRecord['status'],
): Promise<SessionRecord> {
  return eventually(async () => {
    const read = await readSession(server, id);
    return read.status === status && read;
  });
}

/** The only interaction of the session that waits for a person. */
export async function pendingIn(server: TestServer, sessionId: string): Promise<InteractionRecord> {
  return eventually(async () => {
    const { body } = await server.send('list_interactions', { params: { session_id: sessionId } });
    return body.interactions[0];
  });
}

export async function answer(
  server: TestServer,
  interaction: InteractionRecord,
  body: unknown,
): Promise<InteractionRecord> {
  const result = await server.send('answer_interaction', { params: keyOf(interaction), body });
  return result.body;
}

export function keyOf({ session_id, interaction_key }: InteractionRecord) {
  return { session_id, interaction_key };
}

export async function cancel(server: TestServer, run: RunPlace) {
  return server.send('cancel_run', { params: at(run) });
}

export function eventsPath(run: RunPlace): string {
  return `/v1/sessions/${run.session_id}/runs/${run.id}/events`;
}

/** Follows the run from its start, or from after an event. */
export async function follow(
  server: TestServer,
  run: RunPlace,
  lastEventId?: string,
): Promise<EventReader> {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  return server.stream(eventsPath(run), { headers });
}

/** The whole log of a run that ends on its own. */
export async function logOf(server: TestServer, run: RunPlace): Promise<RunEvent[]> {
  const frames = await (await follow(server, run)).all();
  return frames.map((frame) => frame.data);
}

/** The log of a run that has not ended, as far as it is written. */
export async function logSoFar(server: TestServer, run: RunPlace): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  const headers = { accept: 'application/json' };
  let query: Record<string, string> | undefined = { limit: '100' };
  while (query !== undefined) {
    const page: Result<'follow_run_events'> = await server.send('follow_run_events', {
      params: at(run),
      headers,
      query,
    });
    if (page.status !== 200) throw new Error(`the log was answered with ${page.status}`);
    events.push(...page.body.events);
    const cursor: string | undefined = page.body.next_cursor;
    query = cursor === undefined ? undefined : { limit: '100', cursor };
  }
  return events;
}

/** The text of the deltas, joined in order. */
export function textOf(events: readonly RunEvent[]): string {
  return events
    .filter((event) => event.type === 'message_delta')
    .map((event) => eventTypes.message_delta.data.parse(event.data).text)
    .join('');
}
