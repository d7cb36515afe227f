/**
 * Records spans of a trace. Spans carry names, ids and codes only: never prompts, event data, secrets or identities of
 * people.
 */
export interface Traces {
  /** Runs `work` inside a span, which ends when `work` does. */
  within<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
}

export interface SpanStart {
  readonly name: string;
  readonly parent: SpanParent;
  readonly attributes?: SpanAttributes;
}

/** A request continues the trace of its headers; `root` starts a new trace; `current` is the active span. */
export type SpanParent =
  | { readonly request: Readonly<Record<string, string | readonly string[] | undefined>> }
  | 'root'
  | 'current';

export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface Span {
  note(name: string, value: string | number): void;
  fail(): void;
}
