import { type MayAllow, isOffered } from '../approvers.ts';
import { answerOf, deniedText, permissionCall, questionCall, textOfOutput } from '../calls.ts';
import type { Json } from '../json.ts';
import { type RunMetadata, type RunUsage, standingOf } from '../run-metadata.ts';
import { type Speech, type SpeechKind, type VoidText, isVoid, voidTextIn } from '../speech.ts';
import {
  type AskItem,
  type CallItem,
  type EndItem,
  type ResultItem,
  type SettledItem,
  RunTranscript,
  type TranscriptEvent,
  type TranscriptItem,
} from '../transcript.ts';
import {
  type AgUiEvent,
  type AgUiMessage,
  type AgUiOutcome,
  type OwnMessage,
  type ShownCall,
  argumentsOf,
  callEvents,
  interruptOf,
  resultEvent,
  resultOf,
  waitingValue,
} from './events.ts';
import { ShownMessages, messageMaxCharacters, newestOf } from './messages.ts';

export interface AgUiStreamOptions {
  /** The client's names of the conversation and of this response. */
  readonly threadId: string;
  readonly runId: string;
  /** The run that is shown; none where the conversation has none. */
  readonly run?: { readonly sessionId: string; readonly runId: string } | undefined;
  /** The client says which version it speaks: those before 1.0 do not. */
  readonly hasVersion?: boolean;
  /** Messages of the conversation that are not of this run. */
  readonly before?: readonly AgUiMessage[];
  /** The response begins with a snapshot, which has everything up to this event; '' if there is none yet. */
  readonly after?: string | undefined;
  readonly voids?: readonly VoidText[];
  /** The run had ended before the stream was opened: its failure is not a failure of the page (D-208). */
  readonly hasEnded?: boolean;
  /** The events are not all there: only the text of the run is shown (D-195). */
  readonly isTruncated?: boolean;
  /** A person may change the arguments of a call. */
  readonly mayEdit?: boolean;
  /** Fields of the request that are not read (D-213). */
  readonly ignored?: readonly string[];
  /** The usage of the run; read at its end, because no event has it. */
  readonly usage?: () => RunUsage | undefined;
  /** Absent for a reader that may allow every call. */
  readonly mayAllow?: MayAllow | undefined;
}

/**
 * Where a response is. It only moves down this list:
 *
 * - `behind`: the client may have these events from an earlier response. They are read, and a snapshot of them is sent
 *   once, where they end.
 * - `sending`: each event becomes events of the protocol.
 * - `over`: the response is complete. Nothing may follow.
 */
type Phase = 'behind' | 'sending' | 'over';

/**
 * Encodes the events of one run for clients of AG-UI (D-210 to D-213). Give it every event from the first on, once and
 * in order. A response ends with the run, or when the run waits for a person; another response continues it, which
 * begins with a snapshot. So nothing depends on earlier responses.
 */
export class AgUiStream {
  readonly #transcript = new RunTranscript();
  readonly #options: AgUiStreamOptions;
  readonly #shown = new ShownMessages();
  readonly #calls = new Map<string, ShownCall>();
  #speech: Speech | undefined;
  #characters = 0;
  /** The client has been told that the speech began, and not that it ended. */
  #isOpen = false;
  #phase: Phase;
  /** The client shows text or arguments that have changed since; a snapshot replaces them (D-465). */
  #isSnapshotDue = false;
  #lastId: string | undefined;
  /** The output of the agent, kept until the end of the run, which follows it. */
  #output: Json | undefined;
  #out: AgUiEvent[] = [];

  constructor(options: AgUiStreamOptions) {
    this.#options = options;
    this.#phase = options.after === undefined ? 'sending' : 'behind';
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** The first events of every response. */
  start(): readonly AgUiEvent[] {
    const { threadId, runId, run, hasVersion, ignored = [], after } = this.#options;
    const started: AgUiEvent = {
      type: 'RUN_STARTED',
      threadId,
      runId,
      ...(hasVersion === true && { protocolVersion: '1.0' }),
      ...(run !== undefined && { metadata: { convoke: this.#ids() } }),
    };
    const named: AgUiEvent = { type: 'CUSTOM', name: 'convoke.ignored', value: ignored };
    const first = ignored.length > 0 ? [started, named] : [started];
    return after === '' ? [...first, this.#catchUp()] : first;
  }

  /** Pass whether other events of the batch follow: their changes are sent once, after the last (D-465). */
  take(event: TranscriptEvent, isFollowed = false): readonly AgUiEvent[] {
    if (this.#phase === 'over') return [];
    const isBehind = this.#phase === 'behind';
    this.#lastId = event.id;
    for (const item of this.#transcript.take(event)) this.#encode(item);
    if (!isFollowed && !this.isOver) this.#showAgain();
    const events = this.#out;
    this.#out = [];
    if (!isBehind) return events;
    const isThere = event.id >= (this.#options.after ?? '');
    if (!isThere && !this.isOver) return [];
    return [this.#catchUp(), ...(this.isOver ? events.slice(-1) : [])];
  }

  /** Call it when there are no more events for now: a wait for a person ends the response (D-212). */
  pause(): readonly AgUiEvent[] {
    const { threadId, runId, run, mayEdit = false, mayAllow } = this.#options;
    const { waiting } = this.#transcript;
    if (this.#phase === 'over') return [];
    if (waiting.length > 0 && this.#phase === 'behind') this.#out.push(this.#catchUp());
    this.#showAgain();
    if (waiting.length === 0) return this.#out.splice(0);
    this.#endSpeech();
    this.#phase = 'over';
    const interrupts = waiting
      .filter((ask) => isOffered(ask, mayAllow))
      .map((ask) => interruptOf(ask, callIdOf(run?.runId ?? '', ask), mayEdit));
    for (const ask of waiting) {
      if (isOffered(ask, mayAllow) || ask.about === 'question') continue;
      const value = waitingValue(ask, callIdOf(run?.runId ?? '', ask));
      this.#out.push({ type: 'CUSTOM', name: 'convoke.waiting', value });
    }
    const metadata = { convoke: this.#metadata() };
    // Without an interrupt there is nothing that the client could resume.
    const outcome: AgUiOutcome =
      interrupts.length === 0 ? { type: 'success' } : { type: 'interrupt', interrupts };
    return [...this.#out.splice(0), { type: 'RUN_FINISHED', threadId, runId, outcome, metadata }];
  }

  /** Ends a response that follows no run. */
  finish(): AgUiEvent {
    const { threadId, runId } = this.#options;
    this.#phase = 'over';
    return { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success' } };
  }

  /** Ends a response with the protocol's error of a run (D-213). */
  fail(message: string, code: string): AgUiEvent {
    this.#phase = 'over';
    return { type: 'RUN_ERROR', message, code };
  }

  /** The messages of the run. */
  messages(): readonly OwnMessage[] {
    return this.#shown.messages();
  }

  #metadata(end?: EndItem): Partial<RunMetadata> {
    const standing = { lastId: this.#lastId, end, usage: this.#options.usage };
    return {
      ...this.#ids(),
      ...standingOf(this.#transcript, standing),
      ...(this.#shown.isCut && { truncated: true }),
    };
  }

  #ids(): Partial<RunMetadata> {
    const { run, isTruncated } = this.#options;
    return {
      ...(run !== undefined && { session_id: run.sessionId, run_id: run.runId }),
      ...(isTruncated === true && { truncated: true }),
    };
  }

  /** Ids of a run are unique in it only, and clients look them up in the whole conversation. */
  #idIn(name: string): string {
    return `${this.#options.run?.runId ?? ''}-${name}`;
  }

  #encode(item: TranscriptItem): void {
    switch (item.kind) {
      case 'begin':
        return;
      case 'text':
      case 'thought':
        return this.#speak(item.kind === 'text' ? 'text' : 'reasoning', item);
      case 'call':
        return this.#call(item);
      case 'result':
        return this.#result(item);
      case 'ask':
        return this.#ask(item);
      case 'settled':
        return this.#settle(item);
      case 'interrupted':
        return this.#interrupt(item.discardFrom);
      case 'output':
        this.#output = item.output;
        return;
      case 'note': {
        const { type, data } = item;
        this.#out.push({ type: 'CUSTOM', name: 'convoke.event', value: { type, data } });
        return;
      }
      case 'end':
        return this.#end(item);
      default:
        return item satisfies never;
    }
  }

  #speak(kind: SpeechKind, { id, text }: { readonly id: string; readonly text: string }): void {
    if (text === '' || (kind === 'text' && isVoid(this.#options.voids, id))) return;
    if (this.#speech?.kind !== kind || this.#characters > messageMaxCharacters) {
      this.#endSpeech();
      this.#speech = { kind, id: this.#idIn(String(Number(id))), deltas: [] };
      this.#characters = 0;
      this.#shown.add(this.#speech);
    }
    const { id: messageId, deltas } = this.#speech;
    if (!this.#isOpen && this.#phase !== 'behind') {
      this.#isOpen = true;
      this.#out.push(...beginning(kind, messageId));
    }
    deltas.push({ id, text });
    this.#characters += text.length;
    this.#shown.grow(this.#speech, text.length);
    const type = kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT';
    this.#out.push({ type, messageId, delta: text });
  }

  #endSpeech(): void {
    this.#closeSpeech();
    this.#speech = undefined;
  }

  #closeSpeech(): void {
    if (this.#speech !== undefined && this.#isOpen) {
      this.#out.push(...ending(this.#speech.kind, this.#speech.id));
    }
    this.#isOpen = false;
  }

  #call({ call, name, input, isNew }: CallItem): void {
    if (isNew) this.#show(call, name, input);
  }

  #show(call: string, name: string, input: Json): void {
    this.#endSpeech();
    const shown: ShownCall = {
      id: this.#idIn(`call-${call}`),
      name,
      arguments: argumentsOf(input),
      resultId: this.#idIn(`result-${call}`),
    };
    this.#calls.set(call, shown);
    this.#shown.add(shown);
    this.#out.push(...callEvents(shown));
  }

  #result({ call, ok, output }: ResultItem): void {
    this.#answer(call, textOfOutput(output), ok ? undefined : 'failed');
  }

  /** The first result counts: a denied call stays denied, whatever the agent gets instead. */
  #answer(call: string, content: string, outcome?: Parameters<typeof resultOf>[2]): void {
    const shown = this.#calls.get(call);
    if (shown === undefined || shown.result !== undefined) return;
    const result = resultOf(shown.id, content, outcome);
    shown.result = result;
    this.#shown.grow(shown, content.length);
    this.#out.push(resultEvent(shown.resultId, result));
  }

  #ask(ask: AskItem): void {
    const { id, name, input } = ask.about === 'question' ? questionCall(ask) : permissionCall(ask);
    this.#endSpeech();
    if (!this.#calls.has(id)) this.#show(id, name, input);
  }

  #settle({ ask, outcome }: SettledItem): void {
    if (ask === undefined) return;
    if (ask.about === 'question') {
      this.#answer(idOf(ask), textOfOutput(answerOf(outcome)));
      return;
    }
    const { decision, message, updated_input: edited } = outcome;
    if (decision !== 'allow') {
      this.#answer(ask.call, deniedText(message), 'denied');
      return;
    }
    const shown = this.#calls.get(ask.call);
    if (edited === undefined || shown === undefined) return;
    const shownBefore = shown.arguments.length;
    shown.arguments = argumentsOf(edited);
    this.#shown.grow(shown, shown.arguments.length - shownBefore);
    this.#endSpeech();
    this.#isSnapshotDue = true;
  }

  #interrupt(discardFrom: string | undefined): void {
    this.#endSpeech();
    if (discardFrom !== undefined && this.#shown.discard(discardFrom)) this.#isSnapshotDue = true;
  }

  /** Replaces the messages of the run where they have changed. A client that lags gets a snapshot anyway. */
  #showAgain(): void {
    if (!this.#isSnapshotDue || this.#phase === 'behind') return;
    // Nothing may be open then. A text continues after it.
    this.#closeSpeech();
    this.#out.push(this.#snapshot());
  }

  #snapshot(): AgUiEvent {
    const { before = [] } = this.#options;
    this.#isSnapshotDue = false;
    return { type: 'MESSAGES_SNAPSHOT', messages: newestOf([...before, ...this.messages()]) };
  }

  #catchUp(): AgUiEvent {
    if (this.#phase === 'behind') this.#phase = 'sending';
    return this.#snapshot();
  }

  #end(end: EndItem): void {
    for (const call of this.#calls.keys()) {
      const isComplete = end.outcome === 'completed';
      this.#answer(call, isComplete ? 'No result was reported.' : runHasEnded, 'unknown');
    }
    this.#showAgain();
    this.#endSpeech();
    this.#phase = 'over';
    const { threadId, runId, hasEnded } = this.#options;
    const { message = runHasEnded, code } = end;
    const metadata = { convoke: this.#metadata(end) };
    if (end.outcome === 'failed' && hasEnded !== true) {
      const named = code === undefined ? {} : { code };
      this.#out.push({ type: 'RUN_ERROR', message, ...named, metadata });
      return;
    }
    const type = end.outcome === 'cancelled' ? 'cancelled' : 'success';
    const returned = this.#output === undefined ? {} : { result: this.#output };
    const outcome = { type } as const;
    this.#out.push({ type: 'RUN_FINISHED', threadId, runId, ...returned, outcome, metadata });
  }
}

const runHasEnded = 'The run ended first.';

function beginning(kind: SpeechKind, messageId: string): readonly AgUiEvent[] {
  if (kind === 'text') return [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }];
  return [
    { type: 'REASONING_START', messageId },
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
  ];
}

function ending(kind: SpeechKind, messageId: string): readonly AgUiEvent[] {
  if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId }];
  return [
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ];
}

/** Questions are shown as calls too, by their key. */
function idOf(ask: AskItem): string {
  return ask.about === 'question' ? ask.key : ask.call;
}

/** The id of the call that shows a request. */
export function callIdOf(runId: string, ask: AskItem): string {
  return `${runId}-call-${idOf(ask)}`;
}

/** The messages of a run, equal to those that a client builds from a stream of the same events. */
export function agUiMessages(
  run: { readonly sessionId: string; readonly runId: string },
  events: readonly TranscriptEvent[],
): readonly OwnMessage[] {
  const voids = voidTextIn(events);
  const stream = new AgUiStream({ threadId: '', runId: '', run, voids, hasEnded: true });
  for (const event of events) stream.take(event, true);
  return stream.messages();
}
