import { type Operation, errorsOf } from '@convoke/contract';
import type { Observation } from './journal.ts';

/** An answer that an operation declares: a status, and the code when it is a refusal. */
export interface Declared {
  readonly operation: string;
  readonly status: number;
  readonly code: string | undefined;
}

export interface Exemption extends Declared {
  /** Why no test can observe it. */
  readonly because: string;
}

export function declaredAnswers(operation: Operation): readonly Declared[] {
  const successes = Object.keys(operation.responses).map((status) => ({
    operation: operation.id,
    status: Number(status),
    code: undefined,
  }));
  const refusals = errorsOf(operation).map(({ status, code }) => ({
    operation: operation.id,
    status,
    code,
  }));
  return [...successes, ...refusals];
}

/** Names of declared responses that no test observed and no exemption covers. */
export function coverageGaps(
  operations: readonly Operation[],
  observations: readonly Observation[],
  exemptions: readonly Exemption[] = [],
): string[] {
  const known = new Set([...observations, ...exemptions].map(nameOf));
  return operations
    .flatMap(declaredAnswers)
    .map(nameOf)
    .filter((name) => !known.has(name));
}

/** Exemptions of responses that were observed, or are no longer declared. */
export function staleExemptions(
  operations: readonly Operation[],
  observations: readonly Observation[],
  exemptions: readonly Exemption[],
): string[] {
  const declared = new Set(operations.flatMap(declaredAnswers).map(nameOf));
  const observed = new Set(observations.map(nameOf));
  return exemptions.map(nameOf).filter((name) => observed.has(name) || !declared.has(name));
}

export function nameOf({ operation, status, code }: Declared): string {
  return `${operation} ${status}${code === undefined ? '' : ` ${code}`}`;
}
