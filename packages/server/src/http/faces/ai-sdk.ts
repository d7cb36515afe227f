import { isTerminalRunStatus, parseEventId } from '@convoke/contract';
import { type UiChunk, UiStream } from '@convoke/faces';
import { answerPending } from '../../app/interactions.ts';
import { refuse } from '../../app/refusal.ts';
import { logOf } from '../../app/runs/run-log.ts';
import { getRun, listRuns } from '../../app/runs/runs.ts';
import type { Services } from '../../app/services.ts';
import { requireScopes } from '../../auth/gate.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import type { Run } from '../../domain/run/run.ts';
import { actorOf } from '../actor.ts';
import type { Cursors } from '../cursors.ts';
import type { Call, Handlers, RawReply } from '../handler.ts';
import { usageOf } from '../views/runs.ts';
import { type FaceEncoder, type FaceParts, sendFace } from './face-stream.ts';
import { startOfMessage } from './message-run.ts';
import { eventsInstead, hasNoLog, readVoids } from './run-history.ts';
import { type ReadMessage, readUiMessage } from './ui-message.ts';
import { messagesOf } from './ui-history.ts';

export interface AiSdkParts extends FaceParts {
  readonly cursors: Cursors;
  /** The address of the server for browsers. */
  readonly baseUrl: string;
}

type Send = Call<'send_ui_message'>;
type Query = Send['query'];

/** The chat of the Vercel AI SDK over a session (D-203 to D-208). */
export function aiSdkRoutes(
  services: Services,
  parts: AiSdkParts,
): Handlers<'send_ui_message' | 'resume_ui_stream' | 'list_ui_messages'> {
  return {
    async send_ui_message(call) {
      if (call.body.trigger === 'regenerate-message') {
        const message = 'The log of a session is not rewritten: send another message.';
        return refuse('not_supported', { message });
      }
      const message = readUiMessage(call.body.messages);
      if (message.role === 'user') {
        const run = await startOfMessage(services, call, message);
        return stream(services, parts, { ...call, run });
      }
      const run = await answer(services, call, message);
      return stream(services, parts, { ...call, run, position: positionOf(message, run) });
    },

    async resume_ui_stream({ caller, params, query }) {
      const request = {
        sessionId: params.session_id,
        filter: {},
        page: { limit: 1, order: 'desc', after: undefined },
      } as const;
      const [run] = (await listRuns(services, caller.scope, request)).items;
      if (run === undefined) return { status: 204, body: undefined };
      return stream(services, parts, { caller, query, run });
    },

    async list_ui_messages({ caller, params, query }) {
      const sessionId = params.session_id;
      const list = { ...query, order: 'desc' as const };
      const { items, next } = await parts.cursors.page(`ui_messages:${sessionId}`, list, {
        read: async (page) =>
          messagesOf(
            { store: services.store, baseUrl: parts.baseUrl },
            await listRuns(services, caller.scope, { sessionId, filter: {}, page }),
          ),
        idOf: ({ runId }) => runId,
      });
      const messages = items.toReversed().flatMap((run) => run.messages);
      return { status: 200, body: { messages, ...next } };
    },
  };
}

/** Answers what is still pending of what the message shows. Returns the run of these interactions. */
async function answer(
  services: Services,
  { caller, params, request }: Pick<Send, 'caller' | 'params' | 'request'>,
  { answers }: Extract<ReadMessage, { role: 'assistant' }>,
): Promise<Run> {
  const sessionId = params.session_id;
  const by = actorOf(caller, request);
  if (answers.length > 0) requireScopes(caller, 'interactions:write');
  let runId: Run['id'] | undefined;
  for (const { key, body } of answers) {
    const answered = await answerPending(services, caller.scope, { sessionId, key, body, by });
    runId = answered?.runId ?? runId;
  }
  if (runId === undefined) {
    const message = 'The last of messages answers no interaction of this session.';
    return refuse('invalid_body', { message });
  }
  return getRun(services, caller.scope, { sessionId, runId });
}

/** What the reader has of the run. */
interface Position {
  readonly after?: string | undefined;
  readonly shown?: readonly string[];
}

function positionOf(
  { lastEventId, shown }: Extract<ReadMessage, { role: 'assistant' }>,
  run: Run,
): Position {
  const seq = parseEventId(lastEventId ?? '') ?? 0;
  return seq > 0 && seq <= run.lastSeq ? { after: lastEventId } : { shown };
}

interface Streamed {
  readonly caller: ApplicationCaller;
  readonly query: Query;
  readonly run: Run;
  readonly position?: Position;
}

async function stream(
  services: Services,
  parts: FaceParts,
  { caller, query, run, position = {} }: Streamed,
): Promise<RawReply> {
  const { id: runId, sessionId } = run;
  const isTruncated = await hasNoLog(services, run);
  let newest = run;
  const encoder = new UiStream({
    sessionId,
    runId,
    sdk: query.sdk === '6' ? 6 : 7,
    isHeld: query.waiting === 'hold',
    hasEnded: isTerminalRunStatus(run.status),
    voids: await readVoids(services, run),
    isTruncated,
    usage: () => usageOf(newest),
    ...position,
  });
  return sendFace(parts, {
    caller,
    run: logOf(run),
    encoder: encoderOf(encoder),
    atEnd: {
      read: () => getRun(services, caller.scope, { sessionId, runId }),
      take: (ended) => (newest = ended),
    },
    instead: isTruncated ? eventsInstead(run) : undefined,
    headers: {
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-session-id': sessionId,
      'x-run-id': runId,
    },
  });
}

function encoderOf(ui: UiStream): FaceEncoder {
  function* text(chunks: readonly UiChunk[]) {
    for (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}\n\n`;
    if (ui.isOver && chunks.length > 0) yield 'data: [DONE]\n\n';
  }
  return {
    start: () => text([ui.start()]),
    take: (event, isFollowed) => text(ui.take(event, isFollowed)),
    pause: () => text(ui.pause()),
    isOver: () => ui.isOver,
    mustCut: () => ui.mustCut,
  };
}
