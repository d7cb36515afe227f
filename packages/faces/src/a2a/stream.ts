import { type MayAllow, askedBecause, isOffered, waitingText } from '../approvers.ts';
import type { Json, JsonObject } from '../json.ts';
import { RunText } from '../run-text.ts';
import {
  type AskItem,
  type EndItem,
  RunTranscript,
  type TranscriptEvent,
  type TranscriptItem,
} from '../transcript.ts';
import type {
  A2aArtifact,
  A2aMessage,
  A2aPart,
  A2aState,
  A2aStatus,
  A2aTask,
  A2aUpdate,
} from './wire.ts';

/** The artifact that holds the text of a run. */
const answerArtifactId = 'answer';
/** The id and the name of the artifact that holds the output of the agent. */
const outputName = 'output';

export interface A2aStreamOptions {
  readonly sessionId: string;
  readonly runId: string;
  /** The last event that is part of the first response; absent while there is none. */
  readonly upTo: string | undefined;
  /** The stream ends when the run waits for a person, as clients expect it of the response to a message. */
  readonly endsAtWait: boolean;
  /** Absent for a reader that may allow every call. */
  readonly mayAllow?: MayAllow | undefined;
}

/** An event of a run. The time is absent where a row stands for events that were deleted. */
export interface A2aEvent extends TranscriptEvent {
  readonly created_at?: string;
}

/**
 * Where a response is. It only moves down this list:
 *
 * - `summing`: the events up to `upTo` become the task that is sent first. Nothing is sent.
 * - `updating`: the reader has the task, and each change of it becomes an update.
 * - `over`: the response is complete. Nothing may follow.
 */
type Phase = 'summing' | 'updating' | 'over';

/**
 * Encodes the events of one run as a task of the Agent2Agent protocol (D-235): first the task as it stands, then each
 * change of it. Give it every event from the first on, once and in order. The text of its artifact, after all updates,
 * is the text of the run.
 */
export class A2aStream {
  readonly #options: A2aStreamOptions;
  readonly #transcript = new RunTranscript();
  readonly #text = new RunText();
  #state: A2aState = 'TASK_STATE_SUBMITTED';
  #at: string | undefined;
  #message: A2aMessage | undefined;
  #metadata: JsonObject | undefined;
  #phase: Phase = 'summing';
  #hasArtifact = false;
  #output: A2aArtifact | undefined;
  /** The requests have changed since the reader was told which of them are open. */
  #isAskedAnew = false;
  #out: A2aUpdate[] = [];

  constructor(options: A2aStreamOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** The first response, where there is nothing to sum up. */
  start(): readonly A2aUpdate[] {
    if (this.#options.upTo === undefined) this.#show();
    return this.#given();
  }

  take(event: A2aEvent): readonly A2aUpdate[] {
    if (this.#phase === 'over') return [];
    const isFirst = this.#phase === 'summing';
    const isCut = this.#text.take(event);
    if (isCut) this.#replaceText();
    for (const item of this.#transcript.take(event)) this.#encode(item, event.created_at);
    // Ids have a fixed width, so they compare as text.
    const isReached = event.id >= (this.#options.upTo ?? '');
    if (isFirst && (isReached || this.isOver)) this.#show();
    return this.#given();
  }

  /** Call it when there are no more events for now: only then is known which requests are open at the same time. */
  pause(): readonly A2aUpdate[] {
    const { waiting } = this.#transcript;
    if (waiting.length === 0) return [];
    if (this.#isAskedAnew) {
      this.#ask(waiting);
      this.#tell();
    }
    if (this.#options.endsAtWait) this.#phase = 'over';
    return this.#given();
  }

  /** The task after the events that were taken. */
  task(): A2aTask {
    const { runId: id, sessionId: contextId } = this.#options;
    const { waiting } = this.#transcript;
    if (waiting.length > 0) this.#ask(waiting);
    const { text } = this.#text;
    const answer = { artifactId: answerArtifactId, parts: [{ text }] };
    const artifacts = [...(text === '' ? [] : [answer]), ...(this.#output ? [this.#output] : [])];
    return {
      id,
      contextId,
      status: this.#status(),
      ...(artifacts.length > 0 && { artifacts }),
      ...(this.#metadata !== undefined && { metadata: this.#metadata }),
    };
  }

  #given(): readonly A2aUpdate[] {
    const updates = this.#out;
    this.#out = [];
    return updates;
  }

  /** Text before the first response is part of the task in it. */
  #show(): void {
    if (this.#phase === 'summing') this.#phase = 'updating';
    this.#hasArtifact = this.#text.text !== '';
    this.#out.push({ task: this.task() });
  }

  #encode(item: TranscriptItem, at: string | undefined): void {
    switch (item.kind) {
      case 'begin':
        return this.#move('TASK_STATE_WORKING', at);
      case 'text':
        return this.#say(item.text);
      case 'ask':
        this.#at = at;
        this.#isAskedAnew = true;
        return;
      case 'settled':
        return this.#settle(at);
      case 'output':
        return this.#return(item.output);
      case 'end':
        return this.#end(item, at);
      // The protocol has no place for them.
      case 'thought':
      case 'call':
      case 'result':
      case 'note':
      case 'interrupted':
        return;
      default:
        return item satisfies never;
    }
  }

  #say(text: string): void {
    if (text === '' || this.#phase === 'summing') return;
    this.#sendText(text, this.#hasArtifact);
  }

  /** An interruption took text back: the remaining text replaces the text that was sent. */
  #replaceText(): void {
    if (this.#hasArtifact) this.#sendText(this.#text.text, false);
  }

  #sendText(text: string, append: boolean): void {
    this.#hasArtifact = true;
    const artifact = { artifactId: answerArtifactId, parts: [{ text }] };
    this.#out.push({ artifactUpdate: { ...this.#ids(), artifact, append } });
  }

  #return(data: Json): void {
    const artifact = { artifactId: outputName, name: outputName, parts: [{ data }] };
    this.#output = artifact;
    if (this.#phase === 'summing') return;
    this.#out.push({ artifactUpdate: { ...this.#ids(), artifact, append: false } });
  }

  #settle(at: string | undefined): void {
    this.#isAskedAnew = true;
    this.#at = at;
    if (this.#transcript.waiting.length === 0) this.#move('TASK_STATE_WORKING', at);
  }

  #ask(waiting: readonly AskItem[]): void {
    this.#isAskedAnew = false;
    const { runId, mayAllow } = this.#options;
    const offered = waiting.filter((ask) => isOffered(ask, mayAllow));
    this.#state = offered.length === 0 ? 'TASK_STATE_WORKING' : 'TASK_STATE_INPUT_REQUIRED';
    const newest = waiting.at(-1)?.id ?? '';
    this.#message = this.#messageOf(`${runId}-${newest}`, askParts(waiting, offered));
  }

  #end({ outcome, message, code }: EndItem, at: string | undefined): void {
    const { runId } = this.#options;
    if (code !== undefined) this.#metadata = { error_code: code };
    const said = message === undefined ? undefined : [{ text: message }];
    this.#move(outcomes[outcome], at, said && this.#messageOf(`${runId}-end`, said));
    this.#phase = 'over';
  }

  #move(state: A2aState, at: string | undefined, message?: A2aMessage): void {
    const isSame = this.#state === state && this.#message === message;
    this.#state = state;
    this.#at = at;
    this.#message = message;
    if (!isSame) this.#tell();
  }

  #tell(): void {
    if (this.#phase === 'summing') return;
    const metadata = this.#metadata;
    const status = this.#status();
    this.#out.push({
      statusUpdate: { ...this.#ids(), status, ...(metadata !== undefined && { metadata }) },
    });
  }

  #status(): A2aStatus {
    return {
      state: this.#state,
      ...(this.#at !== undefined && { timestamp: this.#at }),
      ...(this.#message !== undefined && { message: this.#message }),
    };
  }

  #ids() {
    return { taskId: this.#options.runId, contextId: this.#options.sessionId };
  }

  #messageOf(messageId: string, parts: readonly A2aPart[]): A2aMessage {
    return { messageId, ...this.#ids(), role: 'ROLE_AGENT', parts };
  }
}

const outcomes = {
  completed: 'TASK_STATE_COMPLETED',
  cancelled: 'TASK_STATE_CANCELED',
  failed: 'TASK_STATE_FAILED',
} as const satisfies Readonly<Record<EndItem['outcome'], A2aState>>;

/** One text for people, and for programs one data part for each request that they may answer. */
function askParts(waiting: readonly AskItem[], offered: readonly AskItem[]): readonly A2aPart[] {
  const lines = waiting.map((ask) =>
    ask.about === 'question' || offered.includes(ask) ? askText(ask) : waitingText(ask),
  );
  return [{ text: lines.join('\n\n') }, ...offered.map(askData)];
}

function askText(ask: AskItem): string {
  if (ask.about === 'question') return ask.question;
  return `The agent asks for permission to call ${ask.name}. ${askedBecause(ask)}`.trimEnd();
}

function askData(ask: AskItem): A2aPart {
  const { key: interaction_key, about: kind } = ask;
  if (ask.about === 'question') {
    return { data: { interaction_key, kind, question: ask.question, ...ask.details } };
  }
  return { data: { interaction_key, kind, tool_name: ask.name, tool_input: ask.input } };
}
