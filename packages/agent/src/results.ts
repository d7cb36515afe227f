import { Misuse, StepFailed } from './failures.ts';
import { NotJson, jsonText } from './json.ts';
import type { Emission, KnownCall } from './lines.ts';

/** Larger results belong in a file (D-163). */
const resultBytesMax = 256 * 1024;

/** A result as the ledger stores it. */
export interface StoredResult {
  /** JSON text; absent for a step that returned nothing. */
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
  /** The step ran, but its result cannot be stored: the run ends. */
  readonly isRefused?: true;
  readonly isRepeatable?: true;
  /** The number of this result in the order of all results. */
  readonly order: number;
  /** Emissions of the step that waited while another one had the floor. */
  readonly said?: readonly Emission[];
}

export type Outcome = Pick<StoredResult, 'value' | 'error' | 'isRefused'>;

/** The outcome of a step that returned. */
export function outcomeOf(step: string, returned: unknown): Outcome {
  try {
    const text = jsonText(returned, 'result');
    if (text === undefined) return {};
    const bytes = Buffer.byteLength(text);
    if (bytes <= resultBytesMax) return { value: JSON.parse(text) as unknown };
    const size = `${Math.ceil(bytes / 1024)} KiB; the limit is ${resultBytesMax / 1024} KiB`;
    return refused(`step "${step}" returned ${size}. Write a file and return its name.`);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return refused(`step "${step}": ${error.message}`);
  }
}

/** The outcome of a step that threw. */
export function outcomeOfError(error: unknown): Outcome {
  if (!(error instanceof Error))
    return { error: { name: 'Error', message: shortened(String(error)) } };
  return { error: { name: error.name, message: shortened(error.message) } };
}

export function readResult({ output }: Extract<KnownCall, { state: 'ended' }>): StoredResult {
  const result = JSON.parse(output) as StoredResult;
  return { ...result, order: result.order ?? Number.POSITIVE_INFINITY };
}

/** Returns or throws a stored result, the same in every leg. */
export function valueOf(step: string, { value, error, isRefused }: StoredResult): unknown {
  if (error === undefined) return value;
  throw isRefused === true ? new Misuse(error.message) : new StepFailed(step, error);
}

function refused(message: string): Outcome {
  return { error: { name: 'Misuse', message }, isRefused: true };
}

const messageMax = 10_000;

function shortened(text: string): string {
  return text.slice(0, messageMax).toWellFormed();
}
