import type { Json } from '../json.ts';
import { RunText } from '../run-text.ts';
import {
  type AskItem,
  RunTranscript,
  type TranscriptEvent,
  type TranscriptItem,
} from '../transcript.ts';
import { type McpWait, OpenWaits } from './waits.ts';

export type McpOutcome =
  | { readonly status: 'completed' | 'cancelled' }
  | { readonly status: 'failed'; readonly problem: string };

/** The state of a run, for the result of a call. */
export interface McpRunState {
  readonly sessionId: string;
  readonly runId: string;
  /** The answer so far. */
  readonly text: string;
  /** The open requests of the run, the oldest first. */
  readonly asks: readonly AskItem[];
  /** What else the run waits for, the oldest first. */
  readonly waits: readonly McpWait[];
  /** Undefined for a run that has not ended. */
  readonly outcome: McpOutcome | undefined;
  /** The output of the agent. */
  readonly output?: Json | undefined;
}

/** Events that change nothing but the text. */
const textOnly: ReadonlySet<string> = new Set(['run_started', 'run_resumed', 'message_delta']);

/** Sums the events of one run up for the result of a tool. Take every event from the first on, once and in order. */
export class McpRun {
  readonly #ids: Pick<McpRunState, 'sessionId' | 'runId'>;
  /** Absent while the run has only said something. */
  #transcript: RunTranscript | undefined;
  readonly #text = new RunText();
  /** Absent until the run waits. */
  #waits: OpenWaits | undefined;
  #outcome: McpOutcome | undefined;
  #output: Json | undefined;

  constructor(ids: Pick<McpRunState, 'sessionId' | 'runId'>) {
    this.#ids = ids;
  }

  get isOver(): boolean {
    return this.#outcome !== undefined;
  }

  /** Complete only when there are no more events for now: an agent may ask several things at once. */
  get asks(): readonly AskItem[] {
    return this.#transcript?.waiting ?? [];
  }

  get state(): McpRunState {
    const [outcome, output] = [this.#outcome, this.#output];
    const { sessionId, runId } = this.#ids;
    const waits = this.#waits?.all ?? [];
    const text = this.#text.text;
    return { sessionId, runId, text, asks: this.asks, waits, outcome, output };
  }

  take(event: TranscriptEvent): void {
    this.#text.take(event);
    if (textOnly.has(event.type)) return;
    this.#transcript ??= new RunTranscript();
    for (const item of this.#transcript.take(event)) this.#takeItem(item);
  }

  #takeItem(item: TranscriptItem): void {
    switch (item.kind) {
      case 'output':
        this.#output = item.output;
        return;
      case 'end': {
        const { outcome: status, message = '', code = '' } = item;
        this.#outcome =
          status === 'failed' ? { status, problem: `${message} (${code})` } : { status };
        return;
      }
      // Some of them are what the run waits for.
      case 'note':
        if (item.type === 'wait_started') this.#waits ??= new OpenWaits();
        this.#waits?.take(item);
        return;
      // The text and the open requests are summed up where they are read; a result shows no calls of the agent.
      case 'begin':
      case 'text':
      case 'thought':
      case 'interrupted':
      case 'call':
      case 'ask':
      case 'result':
      case 'settled':
        return;
      default:
        item satisfies never;
    }
  }
}
