import type { LegContext } from '../ports/harness.ts';

/** The trace of the run for a program, by the name that OpenTelemetry gives the variable (D-588). */
export function traceVariable({ trace }: Pick<LegContext, 'trace'>): Record<string, string> {
  return trace === undefined ? {} : { TRACEPARENT: trace.traceparent };
}
