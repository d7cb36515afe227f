/**
 * What happened, as spans of a trace. Names, ids and codes only: prompts, event data, secrets and who somebody is never
 * reach a span.
 */
export interface Traces {
  /** Runs `work` inside a span, which ends when `work` does. */
  within<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
}

export interface SpanStart {
  readonly name: string;
  readonly of: SpanPlace;
  readonly attributes?: SpanAttributes;
}

/**
 * A request goes on with the trace its headers name; work that nobody waits for begins a trace of its own; everything
 * else is part of the span around it.
 */
export type SpanPlace =
  | { readonly request: Readonly<Record<string, string | readonly string[] | undefined>> }
  | 'itself'
  | 'what is around it';

export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface Span {
  note(name: string, value: string | number): void;
  fail(): void;
}
