import { type RunEvent, isTerminalEvent } from '@convoke/sdk';
import type { CallItem, ResultItem, TranscriptItem } from '@convoke/faces';
import { waitKind } from '../waits.ts';

export type SpanKind = 'queue' | 'leg' | 'text' | 'tool' | 'ask' | 'wait';

/** A stretch of time in a run, in milliseconds of the clock of the server. */
export interface Span {
  readonly kind: SpanKind;
  readonly label: string;
  /** Before the label, where there is room. */
  readonly prefix?: string | undefined;
  readonly from: number;
  /** Absent while it lasts. */
  to?: number | undefined;
  /** How it ended, where that matters. */
  end?: 'interrupted' | 'failed' | 'cancelled' | undefined;
  /** A step whose result a later part of the run used again, instead of running it again. */
  isReplayed?: boolean | undefined;
  /** Since when its work is lost: discarded by an interruption, or without a recorded result. */
  lostFrom?: number | undefined;
  /** Id of the event that began it, to find it in the timeline. */
  eventId?: string | undefined;
}

export interface Spans {
  readonly spans: readonly (Span & { readonly to: number; readonly isOpen: boolean })[];
  readonly from: number;
  readonly to: number;
  /** Time in which nothing executed: between legs, and in the queue. */
  readonly gaps: readonly { readonly from: number; readonly to: number }[];
  readonly queuedMs: number;
  readonly executedMs: number;
  readonly waitedMs: number;
  /** Nothing executes at the moment: the run waits. */
  readonly isParked: boolean;
}

/** Text whose pieces are further apart than this is drawn as two stretches. */
const burstGapMs = 1200;

/** Turns events into spans while they arrive. Legs are inferred: one ends where only answers follow. */
export class SpanRecorder {
  readonly #spans: Span[] = [];
  readonly #pending = new Set<string>();
  readonly #asks = new Map<string, Span>();
  /** Open waits for a time or a message, by id. */
  readonly #waits = new Map<string, Span>();
  readonly #tools = new Map<string, Span>();
  /** Tool calls that a person is asked about, by the key of the request: their time begins with the answer. */
  readonly #held = new Map<string, { readonly call: string; readonly span: Span }>();
  /** Steps with a result: a part of the run that begins later replays them. */
  readonly #steps: Span[] = [];
  readonly #createdAt: number;
  /** When each piece of text was said, by the id of its event. */
  readonly #said = new Map<string, number>();
  /** Steps of an agent as code that are carried out now. */
  readonly #runningSteps = new Set<string>();
  /** A wait is over, and the leg that it wakes has not begun. */
  #hasSettled = false;
  #leg: Span | undefined;
  #legs = 0;
  #burst: Span | undefined;
  #lastActivity: number;
  #endedAt: number | undefined;

  constructor(createdAt: number) {
    this.#createdAt = createdAt;
    this.#lastActivity = createdAt;
    this.#spans.push({ kind: 'queue', label: 'Queued', from: createdAt });
  }

  take(event: RunEvent, items: readonly TranscriptItem[]): void {
    const at = Date.parse(event.created_at);
    const isAnswer = event.type === 'permission_resolved' || event.type === 'user_answered';
    if (isAnswer) {
      const { interaction_key: key } = event.data;
      this.#answered(key, at, event.id);
      if (event.type === 'permission_resolved') this.#release(key, at, event.data.decision);
    } else if (event.type === 'wait_ended') this.#settled(event.data.wait_id, at);
    // One of several people has allowed a call: the run did nothing.
    else if (event.type !== 'permission_approved') this.#acted(event, at);
    for (const item of items)
      if (item.kind === 'call' || item.kind === 'result') this.#used(item, event.type, at);
  }

  at(now: number): Spans {
    const end = this.#endedAt ?? Math.max(now, this.#lastActivity);
    const spans = this.#spans.map((span) => ({
      ...span,
      to: span.to ?? (this.#isParked() && span.kind === 'leg' ? this.#lastActivity : end),
      isOpen: span.to === undefined,
    }));
    const legs = spans.filter((span) => span.kind === 'leg');
    const gaps: { from: number; to: number }[] = [];
    let last = this.#createdAt;
    for (const leg of legs) {
      if (leg.from > last) gaps.push({ from: last, to: leg.from });
      last = leg.to;
    }
    if (end > last) gaps.push({ from: last, to: end });
    const executedMs = legs.reduce((sum, leg) => sum + (leg.to - leg.from), 0);
    const queue = spans[0];
    const queuedMs = queue === undefined ? 0 : queue.to - queue.from;
    const waitedMs = Math.max(0, end - this.#createdAt - executedMs - queuedMs);
    const isParked = this.#endedAt === undefined && this.#isParked();
    return {
      spans,
      gaps,
      from: this.#createdAt,
      to: end,
      queuedMs,
      executedMs,
      waitedMs,
      isParked,
    };
  }

  /** A step may be carried out beside an open wait; without one, the leg ended when the last wait began. */
  #isParked(): boolean {
    if (this.#pending.size > 0) return true;
    return (this.#waits.size > 0 || this.#hasSettled) && this.#runningSteps.size === 0;
  }

  #settled(id: string, at: number): void {
    const wait = this.#waits.get(id);
    if (wait === undefined) return;
    wait.to = at;
    this.#waits.delete(id);
    this.#hasSettled = true;
  }

  #answered(key: string, at: number, eventId: string): void {
    const ask = this.#asks.get(key);
    if (ask !== undefined) ask.to = at;
    this.#pending.delete(key);
    if (this.#pending.size > 0) return;
    this.#endLeg(this.#lastActivity);
    this.#hasSettled = false;
    this.#beginLeg(at, eventId);
  }

  #acted(event: RunEvent, at: number): void {
    const lastActivity = this.#lastActivity;
    if (event.type !== 'run_interrupted') this.#lastActivity = at;
    if (event.type === 'run_started') {
      const queue = this.#spans[0];
      if (queue !== undefined) {
        queue.to = at;
        queue.eventId = event.id;
      }
      this.#beginLeg(at, event.id);
    } else if (event.type === 'run_resumed') {
      // A leg that took text back continues, and its steps are not replayed.
      const isWoken = event.data.reason === 'answered' && this.#hasSettled;
      this.#hasSettled = false;
      if (isWoken) this.#endLeg(lastActivity);
      if (this.#leg !== undefined) return;
      for (const step of this.#steps) step.isReplayed = true;
      this.#beginLeg(at, event.id);
    } else if (event.type === 'run_interrupted') {
      this.#interrupted(event, at);
    } else if (event.type === 'message_delta') this.#say(event, at);
    else if (event.type === 'permission_request' || event.type === 'user_question') {
      this.#asked(event, at);
    } else if (event.type === 'wait_started') {
      const { wait_id: id } = event.data;
      if (this.#waits.has(id)) return;
      const { kind, name: label } = event.data;
      const prefix = `${waitKind(kind)} `;
      const wait: Span = { kind: 'wait', prefix, label, from: at, eventId: event.id };
      this.#waits.set(id, wait);
      this.#spans.push(wait);
    } else if (isTerminalEvent(event)) this.#ended(event, at, lastActivity);
  }

  /**
   * Lost are discarded text, unfinished tool calls, and the time since the last event, but nothing earlier of the leg.
   */
  #interrupted(event: Extract<RunEvent, { type: 'run_interrupted' }>, at: number): void {
    const { discard_from_event_id: discarded, text_only: isTextOnly } = event.data;
    const open = [...this.#tools.values()].map(({ from }) => from);
    const cut = discarded === undefined ? undefined : this.#said.get(discarded);
    const lostFrom = Math.min(this.#lastActivity, ...open, cut ?? at);
    this.#lastActivity = at;
    if (isTextOnly === true) return;
    if (this.#leg !== undefined) this.#leg.lostFrom = Math.max(this.#leg.from, lostFrom);
    this.#endLeg(at, 'interrupted');
  }

  #beginLeg(at: number, eventId: string): void {
    this.#legs += 1;
    this.#leg = { kind: 'leg', label: `Working, part ${this.#legs}`, from: at, eventId };
    this.#spans.push(this.#leg);
    this.#lastActivity = at;
  }

  #endLeg(at: number, end?: Span['end']): void {
    this.#burst = undefined;
    if (end !== undefined) {
      for (const tool of this.#tools.values()) {
        tool.to ??= at;
        if (end === 'interrupted') tool.end = end;
      }
      this.#tools.clear();
      this.#runningSteps.clear();
    }
    if (this.#leg === undefined) return;
    this.#leg.to = Math.max(at, this.#leg.from);
    this.#leg.end = end;
    this.#leg = undefined;
  }

  #say(event: RunEvent, at: number): void {
    this.#said.set(event.id, at);
    if (this.#burst !== undefined && at - (this.#burst.to ?? at) <= burstGapMs) {
      this.#burst.to = at;
      return;
    }
    this.#burst = { kind: 'text', label: 'Text', from: at, to: at, eventId: event.id };
    this.#spans.push(this.#burst);
  }

  #asked(event: Extract<RunEvent, { type: 'permission_request' | 'user_question' }>, at: number) {
    const { interaction_key: key } = event.data;
    this.#burst = undefined;
    if (this.#asks.has(key)) return;
    const label = event.type === 'permission_request' ? event.data.tool_name : 'Question';
    const ask: Span = { kind: 'ask', label, from: at, eventId: event.id };
    this.#asks.set(key, ask);
    this.#pending.add(key);
    this.#spans.push(ask);
    if (event.type === 'permission_request') this.#hold(key, event.data.tool_call_id);
  }

  /** A call that needs a permission has not begun: its bar would say that it ran while a person was asked. */
  #hold(key: string, call: string | undefined): void {
    const span = call === undefined ? undefined : this.#tools.get(call);
    if (call === undefined || span === undefined) return;
    this.#held.set(key, { call, span });
    this.#tools.delete(call);
    this.#spans.splice(this.#spans.indexOf(span), 1);
  }

  #release(key: string, at: number, decision: string): void {
    const held = this.#held.get(key);
    if (held === undefined || decision !== 'allow') return;
    const span: Span = { ...held.span, from: at };
    this.#tools.set(held.call, span);
    this.#spans.push(span);
  }

  #used(tool: CallItem | ResultItem, type: string, at: number): void {
    this.#burst = undefined;
    if (type.startsWith('code.') && tool.kind === 'call') this.#runningSteps.add(tool.call);
    else this.#runningSteps.delete(tool.call);
    const begun = this.#tools.get(tool.call);
    if (begun === undefined) {
      const span: Span = { kind: 'tool', label: tool.name, from: at, eventId: tool.id };
      this.#tools.set(tool.call, span);
      this.#spans.push(span);
    }
    if (tool.kind === 'call') return;
    const span = this.#tools.get(tool.call);
    if (span !== undefined) {
      span.to = at;
      if (type.startsWith('code.')) this.#steps.push(span);
    }
    // A result whose beginning was not seen is a moment, which cannot be drawn as a failure.
    if (begun !== undefined && !tool.ok) begun.end = 'failed';
    this.#tools.delete(tool.call);
  }

  #ended(event: RunEvent, at: number, lastActivity: number): void {
    const end = endings[event.type];
    this.#endLeg(this.#isParked() ? lastActivity : at, end);
    this.#endedAt = at;
    this.#pending.clear();
    this.#waits.clear();
    for (const span of this.#spans) span.to ??= at;
  }
}

const endings: Readonly<Record<string, Span['end']>> = {
  error: 'failed',
  run_cancelled: 'cancelled',
};
