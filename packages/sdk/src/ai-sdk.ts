import { UiStream, type UiStreamOptions } from './generated/ai-sdk.ts';
import { type VoidText, voidTextIn } from './generated/speech.ts';
import type { TurnEvent } from './generated/turn.ts';
import { type UiChunk, askUserTool } from './generated/ui-chunks.ts';
import { isTerminalEvent } from './runs/run-event.ts';
import type { Run } from './runs/run.ts';
import type { SessionHandle } from './sessions/session.ts';
import type { UiMessage } from './sessions/ui-messages.ts';
import type { CallOptions } from './transport/transport.ts';
import { forwardAbort } from './transport/waiting.ts';

export type { UiChunk, UiMetadata } from './generated/ui-chunks.ts';

export interface ConvokeChatTransportOptions {
  readonly session: SessionHandle;
  /**
   * `finish` (default) ends a response when the run waits for a person, as `sendAutomaticallyWhen` needs it. `hold` keeps
   * it open: the page answers with `session.interactions.answer()`, and sees answers from elsewhere at once.
   */
  readonly waiting?: 'finish' | 'hold';
  /** The major version of the package `ai`, if it is not 7. */
  readonly sdk?: 6 | 7;
}

interface SendOptions {
  readonly trigger: string;
  readonly messages: readonly UiMessage[];
  readonly abortSignal?: AbortSignal | undefined;
}

/** What is known of the message when its stream begins. */
type Position = Pick<UiStreamOptions, 'after' | 'shown' | 'hasEnded'>;

/**
 * The `transport` of `useChat` over a session. A killed server, an expired token or a cut connection is invisible to the
 * chat: the run is followed from where it was left (D-209). Stopping the chat stops reading, never the run.
 *
 * @example
 * const session = openSession({ baseUrl, sessionId, token });
 * const transport = new ConvokeChatTransport({ session });
 * const { messages, sendMessage } = useChat({ transport, resume: true });
 */
export class ConvokeChatTransport {
  /** `reconnectToStream` sends the whole message again. */
  readonly resumeStreamIsReplay = true;
  readonly #session: SessionHandle;
  readonly #options: Pick<UiStreamOptions, 'sdk' | 'isHeld'>;

  constructor({ session, waiting, sdk = 7 }: ConvokeChatTransportOptions) {
    this.#session = session;
    this.#options = { sdk, isHeld: waiting === 'hold' };
  }

  readonly sendMessages = async (options: SendOptions): Promise<ReadableStream<UiChunk>> => {
    const { trigger, messages, abortSignal: signal } = options;
    const message = messages.at(-1);
    if (trigger === 'regenerate-message' || message === undefined) {
      throw new Error('The log of a session is not rewritten: send another message.');
    }
    const run = await this.#session.runs.get(
      await this.#session.uiMessages.send(message, { signal }),
      { signal },
    );
    return this.#stream(run, message.role === 'user' ? {} : positionOf(message), { signal });
  };

  readonly reconnectToStream = async (
    options: { readonly abortSignal?: AbortSignal | undefined } = {},
  ): Promise<ReadableStream<UiChunk> | null> => {
    const { abortSignal: signal } = options;
    const [run] = (await this.#session.runs.list({ limit: 1, signal }).page()).items;
    if (run === undefined) return null;
    return this.#stream(run, { hasEnded: isEnded(run) }, { signal });
  };

  #stream(run: Run, position: Position, { signal }: CallOptions): ReadableStream<UiChunk> {
    const stop = new AbortController();
    const untie = forwardAbort(signal, stop);
    const chunks = chunksOf(run, { ...this.#options, ...position }, stop.signal);
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done !== true) return controller.enqueue(value);
        untie();
        controller.close();
      },
      cancel() {
        untie();
        stop.abort();
      },
    });
  }
}

type ChunkOptions = Position & Pick<UiStreamOptions, 'sdk' | 'isHeld'>;

async function* chunksOf(
  run: Run,
  options: ChunkOptions,
  signal: AbortSignal,
): AsyncGenerator<UiChunk, void, undefined> {
  const instead = isEnded(run) ? await eventsInstead(run, signal) : undefined;
  let newest = run.record;
  const ui = new UiStream({
    ...options,
    usage: () => newest.usage,
    sessionId: run.sessionId,
    runId: run.id,
    voids: await voidsOf(run, signal),
    isTruncated: instead !== undefined,
  });
  yield ui.start();
  for (const event of instead ?? []) yield* ui.take(event);
  for await (const event of run.follow({ signal })) {
    if (isTerminalEvent(event)) newest = await run.read({ signal }).catch(() => newest);
    yield* ui.take(event);
    // The library shows such an error as a lost connection, and its resume rebuilds the message (D-207).
    if (ui.mustCut) throw new TypeError('network error: text that is shown was taken back');
    const isWaiting = !ui.isOver && ui.metadata().waiting.length > 0;
    if (isWaiting && options.isHeld !== true && (await isNewest(run, event.id, signal))) {
      yield* ui.pause();
    }
    if (ui.isOver) return;
  }
}

function isEnded({ record: { status } }: Run): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Whether nothing has followed an event, such as an answer to the request that it is. */
async function isNewest(run: Run, id: string, signal: AbortSignal): Promise<boolean> {
  const { last_event_id: known = '' } = run.record;
  if (id < known) return false;
  try {
    const { last_event_id: last = '' } = await run.read({ signal });
    return id >= last;
  } catch (error) {
    if (signal.aborted) throw error;
    // The server is away: the request is the newest that is known of the run.
    return true;
  }
}

/** Text that interruptions have discarded: a message that is built now does not show it. */
async function voidsOf(run: Run, signal: AbortSignal): Promise<readonly VoidText[]> {
  if (run.record.attempt < 2) return [];
  const events: TurnEvent[] = [];
  for await (const event of run.events({ signal })) {
    if (event.type === 'run_interrupted') events.push(event);
  }
  return voidTextIn(events);
}

/** What stands for the events of a run that were deleted (D-195). */
async function eventsInstead(
  run: Run,
  signal: AbortSignal,
): Promise<readonly TurnEvent[] | undefined> {
  const [first] = (await run.events({ limit: 1, signal }).page()).items;
  if (first === undefined || Number(first.id) <= 1) return undefined;
  const { output_text: text = '' } = run.record;
  return [
    { id: '1', type: 'run_started', data: {} },
    { id: '2', type: 'message_delta', data: { text } },
  ].map((event) => ({ ...event, id: event.id.padStart(first.id.length, '0') }));
}

/** What the reader of an assistant's message has of its run (D-205). */
function positionOf({ metadata, parts }: UiMessage): Position {
  const { last_event_id: after } = (metadata ?? {}) as { readonly last_event_id?: string };
  return after === undefined ? { shown: parts.flatMap(keysOf) } : { after };
}

function keysOf(part: object): readonly string[] {
  const { approval, toolName, toolCallId } = part as {
    readonly approval?: { readonly id: string };
    readonly toolName?: string;
    readonly toolCallId?: string;
  };
  const key = toolName === askUserTool ? toolCallId : approval?.id;
  return key === undefined ? [] : [key];
}
