import { type RunEvent, isTerminalEvent } from '@convoke/sdk';
import { type CallItem, type ResultItem, RunText, RunTranscript } from '@convoke/faces';
import { deniedText } from './events/event-lines.ts';
import { type AskItem, type ToolItem, type TranscriptItem, askOf } from './transcript.ts';
import { SpanRecorder, type Spans } from './spans/spans.ts';

/** A run as the page shows it at one moment. */
export interface RunSnapshot {
  readonly items: readonly TranscriptItem[];
  /** All events so far. The array grows; a later snapshot has the same one. */
  readonly events: readonly RunEvent[];
  readonly hasEnded: boolean;
  /** The answer so far. */
  readonly text: string;
  readonly spansAt: (now: number) => Spans;
}

/**
 * A run as the page shows it, built from its events: take each one once and in order. What an interruption discards is
 * cut out of the text (D-87).
 */
export class RunView {
  readonly #events: RunEvent[] = [];
  readonly #items: TranscriptItem[] = [];
  readonly #texts = new Map<TranscriptItem, RunText>();
  readonly #spans: SpanRecorder;
  readonly #transcript = new RunTranscript();
  #lastId: string | undefined;
  #hasEnded = false;
  /** The next `run_resumed` belongs to text that was taken back, and tells nothing new. */
  #hasTakenBack = false;

  constructor(createdAt: string) {
    this.#spans = new SpanRecorder(Date.parse(createdAt));
  }

  /** Another object each time, so that a signal that holds it redraws what reads it. */
  snapshot(): RunSnapshot {
    return {
      items: [...this.#items],
      events: this.#events,
      hasEnded: this.#hasEnded,
      text: this.#items.map((item) => (item.kind === 'text' ? item.text : '')).join(''),
      spansAt: (now) => this.#spans.at(now),
    };
  }

  get lastId(): string | undefined {
    return this.#lastId;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Returns false for an event that was taken before. */
  take(event: RunEvent): boolean {
    if (this.#lastId !== undefined && !isLater(event.id, this.#lastId)) return false;
    this.#lastId = event.id;
    this.#events.push(event);
    const items = this.#transcript.take(event);
    this.#spans.take(event, items);
    this.#record(event);
    for (const item of items) {
      if (item.kind === 'call') this.#called(item, event);
      else if (item.kind === 'result') this.#returned(item, event);
    }
    if (isTerminalEvent(event)) this.#hasEnded = true;
    return true;
  }

  #record(event: RunEvent): void {
    const { id, created_at: at } = event;
    if (event.type === 'message_delta') this.#appendText(event);
    else if (event.type === 'run_interrupted') this.#interrupt(event);
    else if (event.type === 'run_resumed') this.#resume(event);
    else if (event.type === 'permission_request' || event.type === 'user_question') {
      this.#ask(askOf(event));
      if (event.type === 'permission_request') this.#holdCall(event);
    } else if (event.type === 'permission_resolved' || event.type === 'user_answered') {
      this.#resolve(event);
    } else if (event.type === 'error') {
      const { message, error_code: code } = event.data;
      this.#items.push({ kind: 'failure', id, at, message, code });
    } else if (event.type === 'call_decided') {
      if (event.data.effect !== 'deny' || event.data.observed === true) return;
      const reason = deniedText(event.data);
      this.#items.push({ kind: 'note', id, at, note: 'denied by a rule', reason });
    } else if (event.type === 'code.not_yielding' && 'message' in event.data) {
      const { message } = event.data;
      if (typeof message !== 'string') return;
      this.#items.push({ kind: 'note', id, at, note: 'not yielding', reason: message });
    }
  }

  #appendText(event: RunEvent): void {
    const last = this.#items.at(-1);
    const item: TranscriptItem =
      last?.kind === 'text' ? last : { kind: 'text', id: event.id, at: event.created_at, text: '' };
    if (item !== last) {
      this.#items.push(item);
      this.#texts.set(item, new RunText());
    }
    const text = this.#texts.get(item);
    text?.take(event);
    if (item.kind === 'text') item.text = text?.text ?? '';
  }

  /** Each stretch of text cuts itself; those that are empty afterwards disappear. */
  #interrupt(event: Extract<RunEvent, { type: 'run_interrupted' }>): void {
    let hasCut = false;
    for (const [item, text] of this.#texts) {
      if (!text.take(event)) continue;
      hasCut = true;
      if (item.kind === 'text') item.text = text.text;
      if (text.text !== '') continue;
      this.#texts.delete(item);
      this.#items.splice(this.#items.indexOf(item), 1);
    }
    if (event.data.text_only === true) return this.#tookBack();
    for (const [index, item] of this.#items.entries()) {
      if (item.kind !== 'tool' || item.endedAt !== undefined) continue;
      this.#items[index] = { ...item, isCut: true, endedAt: event.created_at };
    }
    this.#items.push({
      kind: 'note',
      id: event.id,
      at: event.created_at,
      note: 'interrupted',
      reason: event.data.reason,
      hasCut,
      callsInDoubt: event.data.calls_in_doubt ?? 0,
    });
  }

  /** Marks the interruption as one whose text was discarded, because a later leg wrote something else. */
  #tookBack(): void {
    const at = this.#items.findLastIndex(
      (item) => item.kind === 'note' && item.note === 'interrupted',
    );
    const item = this.#items[at];
    if (item?.kind === 'note') this.#items[at] = { ...item, hasCut: true };
    this.#hasTakenBack = true;
  }

  /** Only an interruption is mentioned: after an answer the conversation simply continues. */
  #resume({ id, created_at: at, data }: Extract<RunEvent, { type: 'run_resumed' }>): void {
    const isTold = this.#hasTakenBack;
    this.#hasTakenBack = false;
    if (isTold || data.reason === 'answered') return;
    const note = data.agent_changed === true ? 'resumed with a changed agent' : 'resumed';
    const keptSteps = this.#items.filter(
      (item) => item.kind === 'tool' && item.isStep && hasResult(item),
    ).length;
    this.#items.push({ kind: 'note', id, at, note, keptSteps });
  }

  /** An interaction that is announced again after a restart stays where it was. */
  #ask(ask: AskItem): void {
    const known = this.#items.some((item) => item.kind === 'ask' && item.key === ask.key);
    if (!known) this.#items.push(ask);
  }

  #resolve(event: Extract<RunEvent, { type: 'permission_resolved' | 'user_answered' }>): void {
    const { interaction_key: key } = event.data;
    const at = this.#items.findIndex((item) => item.kind === 'ask' && item.key === key);
    const item = this.#items[at];
    if (item?.kind !== 'ask') return;
    // Another object, so that a part that compares items draws this one again.
    this.#items[at] = { ...item, resolution: { ...event.data, at: event.created_at } };
    if (item.request.kind !== 'permission') return;
    const asked = this.#callAt(item.request.tool_call_id);
    const call = this.#items[asked];
    if (call?.kind === 'tool') {
      this.#items[asked] = { ...call, isAsked: false, at: event.created_at };
    }
  }

  /** The model has made the call; it runs, and its time counts, from the answer on. */
  #holdCall({ data }: Extract<RunEvent, { type: 'permission_request' }>): void {
    const at = this.#callAt(data.tool_call_id);
    const call = this.#items[at];
    if (call?.kind === 'tool') this.#items[at] = { ...call, isAsked: true };
  }

  #callAt(id: string | undefined): number {
    return this.#items.findLastIndex(
      (item) => item.kind === 'tool' && item.key === id && item.endedAt === undefined,
    );
  }

  #called(call: CallItem, event: RunEvent): void {
    const begun = this.#items[this.#begunAt(call)];
    const isAgain = begun?.kind === 'tool' && begun.isCut === true;
    if (begun === undefined || isAgain) this.#items.push(toolOf(call, event, isAgain));
  }

  #returned(result: ResultItem, event: RunEvent): void {
    const { ok, output } = result;
    const at = this.#begunAt(result);
    const begun = this.#items[at];
    const isSpoken = at >= 0 && this.#saidSince(at, output);
    const isAsked = false;
    const ended = { ok, output: output ?? undefined, endedAt: event.created_at, isSpoken, isAsked };
    // A call that was asked about begins with its result, if its framework says nothing in between.
    if (begun?.kind !== 'tool') this.#items.push({ ...toolOf(result, event, false), ...ended });
    else this.#items[at] = { ...begun, ...ended, isCut: false };
  }

  /** Whether the text since this entry equals the output, as when a step streams its result. */
  #saidSince(at: number, output: ResultItem['output']): boolean {
    const isObject = typeof output === 'object' && output !== null && 'text' in output;
    const text = isObject ? output.text : output;
    if (typeof text !== 'string' || text.trim() === '') return false;
    const said = this.#items.slice(at + 1).map((item) => (item.kind === 'text' ? item.text : ''));
    return said.join('').trim() === text.trim();
  }

  #begunAt({ call }: CallItem | ResultItem): number {
    return this.#items.findLastIndex(
      (item) => item.kind === 'tool' && item.key === call && !hasResult(item),
    );
  }
}

function toolOf(item: CallItem | ResultItem, event: RunEvent, isAgain: boolean): ToolItem {
  return {
    kind: 'tool',
    isStep: event.type.startsWith('code.'),
    isAgain,
    id: event.id,
    at: event.created_at,
    key: item.call,
    name: item.name,
    input: item.kind === 'call' ? item.input : undefined,
  };
}

function hasResult(item: ToolItem): boolean {
  return item.endedAt !== undefined && item.isCut !== true;
}

/** Ids have a fixed width; a longer one is later (D-02). */
function isLater(id: string, than: string): boolean {
  return id.length > than.length || (id.length === than.length && id > than);
}
