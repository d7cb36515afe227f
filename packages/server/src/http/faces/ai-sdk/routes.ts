import { type UiChunk, UiStream, type UiStreamOptions } from '@convoke/faces';
import { answerInteractions, positionOf } from '../../../app/faces/ai-sdk/answer.ts';
import { messagesOf } from '../../../app/faces/ai-sdk/history.ts';
import { readUiMessage } from '../../../app/faces/ai-sdk/input.ts';
import { startRunOfMessage } from '../../../app/faces/ai-sdk/start.ts';
import { refuse } from '../../../app/refusal.ts';
import { listRuns, withQueuePosition } from '../../../app/runs/runs.ts';
import type { Services } from '../../../app/services.ts';
import type { ApplicationCaller } from '../../../domain/access.ts';
import type { Run } from '../../../domain/run/run.ts';
import { allowerOf } from '../../actor.ts';
import type { Call, Handlers, RawReply } from '../../handler.ts';
import type { RouteParts } from '../../routes/route-parts.ts';
import { runView, usageOf } from '../../views/runs.ts';
import { faceCaller } from '../caller.ts';
import { sendRun } from '../run-stream.ts';
import type { FaceEncoder, FaceParts } from '../stream.ts';

export interface AiSdkParts extends FaceParts, RouteParts {
  /** The address of the server for browsers. */
  readonly baseUrl: string;
}

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
      const sessionId = call.params.session_id;
      const caller = faceCaller(call);
      const run =
        message.role === 'user'
          ? await startRunOfMessage(services, caller, { sessionId, message })
          : await answerInteractions(services, caller, { sessionId, message });
      if (prefersAsync(call.headers.prefer))
        return acceptedReply(services, parts, { ...call, run });
      const position = message.role === 'user' ? {} : positionOf(message, run);
      return streamRun(services, parts, { ...call, run, position });
    },

    async resume_ui_stream({ caller, params, query }) {
      const request = {
        sessionId: params.session_id,
        filter: {},
        page: { limit: 1, order: 'desc', after: undefined },
      } as const;
      const [run] = (await listRuns(services, caller.scope, request)).items;
      if (run === undefined) return { status: 204, body: undefined };
      return streamRun(services, parts, { caller, query, run });
    },

    async list_ui_messages({ caller, params, query }) {
      const sessionId = params.session_id;
      const list = { ...query, order: 'desc' as const };
      const { items, next } = await parts.cursors.page(`ui_messages:${sessionId}`, list, {
        read: async (page) =>
          messagesOf(
            { store: services.store, baseUrl: parts.baseUrl, usageOf, reader: allowerOf(caller) },
            await listRuns(services, caller.scope, { sessionId, filter: {}, page }),
          ),
        idOf: ({ runId }) => runId,
      });
      const messages = items.toReversed().flatMap((run) => run.messages);
      return { status: 200, body: { messages, ...next } };
    },
  };
}

/** RFC 7240: preferences are a list, each with parameters that are of no importance here. */
function prefersAsync(prefer = ''): boolean {
  return prefer.split(',').some((each) => /^respond-async\s*(;|$)/i.test(each.trim()));
}

/** The run of a message, for a client that follows its events: no stream is opened (D-700). */
async function acceptedReply(
  services: Services,
  { actorNames }: AiSdkParts,
  { caller, run }: Pick<StreamedRun, 'caller' | 'run'>,
) {
  const names = await actorNames.of([run.createdBy, run.cancelledBy], caller);
  const body = runView(await withQueuePosition(services, run), names);
  const headers = { 'preference-applied': 'respond-async' };
  return { status: 202, body, headers } as const;
}

interface StreamedRun {
  readonly caller: ApplicationCaller;
  readonly query: Call<'send_ui_message'>['query'];
  readonly run: Run;
  /** The position of the reader in the run. */
  readonly position?: Pick<UiStreamOptions, 'after' | 'shown'>;
}

function streamRun(
  services: Services,
  parts: FaceParts,
  { caller, query, run, position }: StreamedRun,
): Promise<RawReply> {
  const sdk = query.sdk === '6' ? 6 : 7;
  const isHeld = query.waiting === 'hold';
  return sendRun(services, parts, {
    caller,
    run,
    encoderOf: (known) => frames(new UiStream({ ...known, ...position, sdk, isHeld })),
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
  });
}

function frames(ui: UiStream): FaceEncoder {
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
