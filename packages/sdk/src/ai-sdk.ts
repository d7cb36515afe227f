import { requestKeyOf } from '@convoke/faces';
import { type ChatChunk, type ChunkOptions, chunksOf, isEnded } from './chat/run-chunks.ts';
import type { Run } from './runs/run.ts';
import type { SessionHandle } from './sessions/session.ts';
import type { UiMessage } from './sessions/ui-messages.ts';
import type { CallOptions } from './transport/transport.ts';
import { forwardAbort } from './transport/waiting.ts';

export type { ChatChunk } from './chat/run-chunks.ts';
export type { UiChunk, RunMetadata as UiMetadata } from '@convoke/faces';

export interface ConvokeChatTransportOptions {
  readonly session: SessionHandle;
  /**
   * `finish` (default) ends a response when the run waits for a person, as `sendAutomaticallyWhen` needs it. `hold`
   * keeps it open: the page answers with `session.interactions.answer()`, and sees answers from elsewhere at once.
   */
  readonly waiting?: 'finish' | 'hold';
  /**
   * The major version of the package `ai`, if it is not 7. Only a page that copies the chunks on their way to the
   * library needs it, for instance to another thread: otherwise every version shows the same (D-481).
   */
  readonly sdk?: 6 | 7;
}

type Position = Omit<ChunkOptions, 'interactions'>;

interface SendOptions {
  readonly trigger: string;
  readonly messages: readonly UiMessage[];
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * The `transport` of `useChat` over a session. A killed server, an expired token or a cut connection is invisible to
 * the chat: the run is followed from where it was left (D-209). Stopping the chat stops reading, never the run.
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
  readonly #options: Pick<ChunkOptions, 'sdk' | 'isHeld'>;
  /** Runs of which this transport has sent something, and whether that was everything. */
  readonly #sent = new Map<string, boolean>();

  constructor({ session, waiting, sdk = 7 }: ConvokeChatTransportOptions) {
    this.#session = session;
    this.#options = { sdk, isHeld: waiting === 'hold' };
  }

  readonly sendMessages = async (options: SendOptions): Promise<ReadableStream<ChatChunk>> => {
    const { trigger, messages, abortSignal: signal } = options;
    const message = messages.at(-1);
    if (trigger === 'regenerate-message' || message === undefined) {
      throw new Error('The log of a session is not rewritten: send another message.');
    }
    const run = await this.#session.uiMessages.send(message, { signal });
    return this.#stream(run, message.role === 'user' ? {} : positionOf(message), { signal });
  };

  /** The newest run as a message, from its beginning; null if it has ended and the page shows it. */
  readonly reconnectToStream = async (
    options: { readonly abortSignal?: AbortSignal | undefined } = {},
  ): Promise<ReadableStream<ChatChunk> | null> => {
    const { abortSignal: signal } = options;
    const [run] = (await this.#session.runs.list({ limit: 1, signal }).page()).items;
    if (run === undefined) return null;
    const hasEnded = isEnded(run);
    if (hasEnded && this.#isShown(run)) return null;
    return this.#stream(run, { hasEnded, isReplay: true }, { signal });
  };

  /** Whether the page has the end of a run: from this transport, or from the history that it has listed. */
  #isShown({ id }: Run): boolean {
    return this.#sent.get(id) ?? this.#session.uiMessages.hasListedEnd(id) ?? true;
  }

  #stream(run: Run, position: Position, { signal }: CallOptions): ReadableStream<ChatChunk> {
    const stop = new AbortController();
    const untie = forwardAbort(signal, stop);
    const sent = this.#sent.set(run.id, false);
    const { interactions } = this.#session;
    const chunks = chunksOf(run, { ...this.#options, ...position, interactions }, stop.signal);
    return new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await chunks.next();
          if (done !== true) return controller.enqueue(value as ChatChunk);
          sent.set(run.id, value);
          untie();
          controller.close();
        },
        cancel() {
          untie();
          stop.abort();
        },
      },
      // The library asks for a chunk when it has processed the one before: `KeptParts` relies on that.
      { highWaterMark: 0 },
    );
  }
}

/** What the reader of an assistant's message has of its run (D-205). */
function positionOf({ metadata, parts }: UiMessage): Position {
  const { last_event_id: after } = (metadata ?? {}) as { readonly last_event_id?: string };
  return after === undefined
    ? { shown: parts.flatMap((part) => requestKeyOf(part) ?? []) }
    : { after };
}
