import { idPattern, kindOfId, sessionId } from '@convoke/contract';
import type { AgUiMessage } from '@convoke/faces';
import type { JsonObject } from '../../../domain/json.ts';
import type { Run } from '../../../domain/run/run.ts';
import type { Session } from '../../../domain/session.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { listRuns } from '../../runs/runs.ts';
import { startRun } from '../../runs/start-run.ts';
import type { Services } from '../../services.ts';
import { createSession, findCreated, findSession, getSession } from '../../sessions.ts';
import { type FaceCaller, startedBy } from '../caller.ts';
import { followedOf, historyRuns, messagesBefore, messagesOfOthers } from './history.ts';
import type { AgUiAsked } from './input.ts';

/** The content of a response. */
export interface ShownRun {
  readonly run: Run;
  /** Messages of the conversation that are not of the run. */
  readonly before: readonly AgUiMessage[];
  /** The client may have parts of the run. */
  readonly isContinued: boolean;
}

export interface Thread {
  readonly agentName: string;
  readonly threadId: string;
}

/** The session of a thread. Only a message makes one: a page that is opened asks for threads that have none (D-210). */
export async function sessionOfThread(
  services: Services,
  { scope, by, chargeRate }: FaceCaller,
  { agentName, threadId, asked }: Thread & { readonly asked: AgUiAsked },
): Promise<Session | undefined> {
  if (kindOfId(threadId) === 'session' && idPattern.test(threadId)) {
    const session = await findSession(services, scope, sessionId(threadId));
    if (session?.agentName === agentName) return session;
    return refuse('not_found', { message: `${agentName} has no session ${threadId}.` });
  }
  const idempotencyKey = `ag-ui:${agentName}:${threadId}`;
  if (asked.kind !== 'message') return findCreated(services, scope, idempotencyKey);
  const request = { agentName, createdBy: by.id, idempotencyKey, chargeRate };
  return (await createSession(services, scope, request)).resource;
}

export interface NewMessage {
  readonly session: Session | undefined;
  readonly input: JsonObject;
  /** The client's name of this response. */
  readonly runId: string;
}

/** Starts the run of a message; a refusal where the agent waits for an answer, which is an error of AG-UI (D-213). */
export async function startRunOfMessage(
  services: Services,
  caller: FaceCaller,
  { session, input, runId }: NewMessage,
): Promise<Omit<ShownRun, 'before'> | Refusal> {
  const { scope } = caller;
  const { id } = session ?? refuse('not_found');
  try {
    const { resource: run, replayed: isContinued } = await startRun(services, scope, {
      ...startedBy(caller),
      sessionId: id,
      idempotencyKey: `ag-ui:${runId}`,
      input,
    });
    return { run, isContinued };
  } catch (error) {
    const isBusy = error instanceof Refusal && error.code === 'session_busy';
    if (isBusy && (await getSession(services, scope, id)).status === 'waiting') return error;
    throw error;
  }
}

/**
 * The conversation, and the run that its client follows (D-211); undefined where there is none. A client that has
 * messages keeps them: those of the user have other ids in its own history.
 */
export async function openConversation(
  services: Services,
  { scope }: Pick<FaceCaller, 'scope'>,
  {
    session,
    messages,
  }: { readonly session: Session | undefined; readonly messages: readonly JsonObject[] },
): Promise<ShownRun | undefined> {
  if (session === undefined) return undefined;
  const { items: runs } = await listRuns(services, scope, {
    sessionId: session.id,
    filter: {},
    page: { limit: historyRuns, order: 'desc', after: undefined },
  });
  const run = followedOf(runs);
  if (run === undefined) return undefined;
  const before =
    messages.length > 0
      ? messagesOfOthers(messages, run)
      : await messagesBefore(services, run, runs);
  return { run, before, isContinued: true };
}
