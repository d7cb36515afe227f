import type { RunId } from '@convoke/contract';
import type { SettledInteraction, ClosedInteraction } from '../domain/interaction.ts';
import type { Json } from '../domain/json.ts';
import type { EndedRun, Run } from '../domain/run/run.ts';

/**
 * Records spans of a trace. Spans carry names, ids, counts and codes only: never prompts, event data, secrets or
 * identities of people, unless the operator asks for content (D-585).
 */
export interface Traces {
  /**
   * Runs `work` inside a span of the caller's trace, which ends when `work` does; without such a trace only calls it
   * (D-582).
   */
  within<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** The trace that each run has of its own; undefined where none are exported. */
  readonly runs: RunTraces | undefined;
  /** Sends the remaining spans, within a bounded time. */
  close(): Promise<void>;
}

export interface SpanStart {
  readonly name: string;
  readonly parent: SpanParent;
  readonly attributes?: SpanAttributes;
}

/** A request continues the trace of its headers; `current` is the active span. */
export type SpanParent =
  | { readonly request: Readonly<Record<string, string | readonly string[] | undefined>> }
  | 'current';

export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface Span {
  note(name: string, value: string | number): void;
  /** The span is about this run: links it to the trace of the run. */
  isAbout(id: RunId): void;
  fail(): void;
}

/**
 * One trace for each run over all its legs and servers (D-582). Ids are computed from the id of the run, so each server
 * names the same spans and none has to be stored. Times are those of the service's clock, in milliseconds.
 */
export interface RunTraces {
  /** Undefined for a run that is not sampled. */
  traceId(id: RunId): string | undefined;
  /** A request has started the run. The active span, and the caller's, are linked. */
  started(run: Run, times: Times): void;
  /** The root of the trace. Called by the server that committed the end. */
  ended(run: EndedRun): void;
  /** A person was waited for. */
  waited(run: Run, wait: EndedWait): void;
  /** A leg whose worker is gone. */
  lost(run: Run, times: Times): void;
  /** A leg that this server executes. */
  leg(run: Run, from: number): LegTrace;
}

export interface Times {
  readonly from: number;
  readonly to: number;
}

export interface EndedWait {
  readonly interaction: SettledInteraction | ClosedInteraction;
  readonly to: number;
}

export interface LegTrace {
  /** The leg as the parent of spans in programs and other services, in the W3C format (D-588). */
  readonly traceparent: string;
  /** The same for a tool call of the leg. */
  callParent(call: string): string;
  /** The span of the leg is the active one in `work`. */
  within<T>(work: () => Promise<T>): Promise<T>;
  called(call: TracedCall): void;
  asked(request: TracedRequest): void;
  end(end: LegTraceEnd): void;
}

export interface LegTraceEnd {
  readonly outcome: string;
  readonly error?: string | undefined;
  readonly to: number;
}

export interface TracedCall extends Times {
  /** The id of the call for clients, unique in the run. */
  readonly id: string;
  readonly name: string;
  readonly error?: string | undefined;
  /** Its content in the log, for operators that want it. */
  readonly input?: Json | undefined;
  readonly output?: Json | undefined;
}

/** A request to a model. */
export interface TracedRequest extends Times {
  /** As the agent names it: `provider/model`, or only a model. */
  readonly model: string;
  readonly error?: string | undefined;
  readonly usage?: RequestUsage | undefined;
}

export interface RequestUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
}
