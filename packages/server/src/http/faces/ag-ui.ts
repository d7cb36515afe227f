import {
  formatEventId,
  isTerminalRunStatus,
  idPattern,
  kindOfId,
  sessionId,
} from '@convoke/contract';
import { type AgUiEvent, type AgUiMessage, AgUiStream } from '@convoke/faces';
import { getAgent } from '../../app/agents.ts';
import { Refusal, refuse } from '../../app/refusal.ts';
import { logOf } from '../../app/runs/run-log.ts';
import { getRun, listRuns } from '../../app/runs/runs.ts';
import { startRun } from '../../app/runs/start-run.ts';
import { createSession, findCreated, findSession, getSession } from '../../app/sessions.ts';
import type { Services } from '../../app/services.ts';
import type { Run } from '../../domain/run/run.ts';
import type { Session } from '../../domain/session.ts';
import { clientOf } from '../actor.ts';
import type { Call, Handlers, RawReply } from '../handler.ts';
import { usageOf } from '../views/runs.ts';
import { resumed } from './ag-ui-resume.ts';
import { followedOf, historyRuns, messagesBefore, messagesOfOthers } from './ag-ui-history.ts';
import { type AgUiAsked, type AgUiBody, askedIn, ignoredIn } from './ag-ui-input.ts';
import { type FaceEncoder, type FaceParts, sendFace, sendWhole } from './face-stream.ts';
import { eventsInstead, hasNoLog, readVoids } from './run-history.ts';

type Posted = Pick<Call<'run_ag_ui'>, 'caller' | 'request' | 'chargeRate' | 'body'>;

/** AG-UI over sessions (D-210 to D-213). */
export function agUiRoutes(
  services: Services,
  parts: FaceParts,
): Handlers<'run_ag_ui' | 'run_session_ag_ui'> {
  const face = { services, parts };
  return {
    async run_ag_ui(call) {
      const asked = askedIn(call.body);
      const agentName = call.params.agent_name;
      getAgent(services, call.caller.scope, agentName);
      const session = await sessionOfThread(services, call, { agentName, asked });
      return respond(face, call, { asked, session });
    },

    async run_session_ag_ui(call) {
      const asked = askedIn(call.body);
      const session = await getSession(services, call.caller.scope, call.params.session_id);
      return respond(face, call, { asked, session });
    },
  };
}

/** The session of a thread. Only a message makes one: a page that is opened asks for threads that have none (D-210). */
async function sessionOfThread(
  services: Services,
  { caller, body: { threadId }, chargeRate }: Posted,
  { agentName, asked }: { readonly agentName: string; readonly asked: AgUiAsked },
): Promise<Session | undefined> {
  const { scope } = caller;
  if (kindOfId(threadId) === 'session' && idPattern.test(threadId)) {
    const session = await findSession(services, scope, sessionId(threadId));
    if (session?.agentName === agentName) return session;
    return refuse('not_found', { message: `${agentName} has no session ${threadId}.` });
  }
  const idempotencyKey = `ag-ui:${agentName}:${threadId}`;
  if (asked.kind !== 'message') return findCreated(services, scope, idempotencyKey);
  const createdBy = caller.actor.id;
  const request = { agentName, createdBy, idempotencyKey, chargeRate };
  return (await createSession(services, scope, request)).resource;
}

interface Face {
  readonly services: Services;
  readonly parts: FaceParts;
}

interface Conversation {
  readonly asked: AgUiAsked;
  readonly session: Session | undefined;
}

async function respond(
  face: Face,
  call: Posted,
  { asked, session }: Conversation,
): Promise<RawReply> {
  const { messages } = call.body;
  if (asked.kind === 'connect') return connect(face, call, session);
  const begun =
    asked.kind === 'resume'
      ? await resumed(face.services, call, { session, entries: asked.entries })
      : await started(face.services, call, { session, prompt: asked.prompt });
  if (begun instanceof Refusal) return failed(face, call, begun);
  const { run, isContinued } = begun;
  return stream(face, call, { run, before: messagesOfOthers(messages, run), isContinued });
}

interface Begun {
  readonly run: Run;
  /** The client may have parts of the run. */
  readonly isContinued: boolean;
}

/** Starts the run of a message; a refusal where the agent waits for an answer, which is an error of AG-UI (D-213). */
async function started(
  services: Services,
  { caller, body, chargeRate }: Posted,
  { session, prompt }: { readonly session: Session | undefined; readonly prompt: string },
): Promise<Begun | Refusal> {
  const { scope } = caller;
  const { id } = session ?? refuse('not_found');
  try {
    const { resource: run, replayed: isContinued } = await startRun(services, scope, {
      sessionId: id,
      idempotencyKey: `ag-ui:${body.runId}`,
      input: { prompt },
      clientId: clientOf(caller),
      createdBy: caller.actor.id,
      isRefusedWhileWaiting: true,
      chargeRate,
    });
    return { run, isContinued };
  } catch (error) {
    const isBusy = error instanceof Refusal && error.code === 'session_busy';
    if (isBusy && (await getSession(services, scope, id)).status === 'waiting') return error;
    throw error;
  }
}

/**
 * The conversation, and the active run until it ends or waits (D-211). A client that has messages keeps them: those
 * of the user have other ids in its own history.
 */
async function connect(face: Face, call: Posted, session: Session | undefined): Promise<RawReply> {
  const { services } = face;
  const newest = {
    filter: {},
    page: { limit: historyRuns, order: 'desc', after: undefined },
  } as const;
  const { items: runs } =
    session === undefined
      ? { items: [] }
      : await listRuns(services, call.caller.scope, { sessionId: session.id, ...newest });
  const run = followedOf(runs);
  if (run === undefined) {
    const none = new AgUiStream({ ...namesOf(call.body), after: '' });
    return whole(face, call, [...none.start(), none.finish()]);
  }
  const { messages } = call.body;
  const before =
    messages.length > 0
      ? messagesOfOthers(messages, run)
      : await messagesBefore(services, run, runs);
  return stream(face, call, { run, before, isContinued: true });
}

/** What the protocol calls an error of a run (D-213). */
function failed(face: Face, call: Posted, { message, code }: Refusal): RawReply {
  const stopped = new AgUiStream(namesOf(call.body));
  return whole(face, call, [...stopped.start(), stopped.fail(message, code)]);
}

function whole({ parts }: Face, { caller }: Posted, events: readonly AgUiEvent[]): RawReply {
  return sendWhole(parts, { caller, headers: {}, text: [...framesOf(events)].join('') });
}

function namesOf(body: AgUiBody) {
  const { threadId, runId } = body;
  const hasVersion = typeof body['protocolVersion'] === 'string';
  return { threadId, runId, hasVersion, ignored: ignoredIn(body) };
}

async function stream(
  { services, parts }: Face,
  { caller, body }: Posted,
  { run, before, isContinued }: Begun & { readonly before: readonly AgUiMessage[] },
): Promise<RawReply> {
  const { id: runId, sessionId: ofSession } = run;
  const isTruncated = await hasNoLog(services, run);
  let newest = run;
  const encoder = new AgUiStream({
    ...namesOf(body),
    run: { sessionId: ofSession, runId },
    before,
    after: isContinued ? positionOf(run) : undefined,
    voids: await readVoids(services, run),
    hasEnded: isTerminalRunStatus(run.status),
    isTruncated,
    mayEdit: services.agents.find(run.agentName)?.hasFixedToolInput !== true,
    usage: () => usageOf(newest),
  });
  return sendFace(parts, {
    caller,
    run: logOf(run),
    encoder: encoderOf(encoder),
    atEnd: {
      read: () => getRun(services, caller.scope, { sessionId: ofSession, runId }),
      take: (ended) => (newest = ended),
    },
    instead: isTruncated ? eventsInstead(run) : undefined,
    headers: { 'x-session-id': ofSession, 'x-run-id': runId },
  });
}

/** The newest event of the run; '' before the first. */
function positionOf({ lastSeq }: Run): string {
  return lastSeq > 0 ? formatEventId(lastSeq) : '';
}

function encoderOf(stream: AgUiStream): FaceEncoder {
  return {
    start: () => framesOf(stream.start()),
    take: (event, isFollowed) => framesOf(stream.take(event, isFollowed)),
    pause: () => framesOf(stream.pause()),
    isOver: () => stream.isOver,
    // Whatever is void is taken back by a snapshot.
    mustCut: () => false,
  };
}

function* framesOf(events: readonly AgUiEvent[]): Generator<string> {
  for (const event of events) yield `data: ${JSON.stringify(event)}\n\n`;
}
