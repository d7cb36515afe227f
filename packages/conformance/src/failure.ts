/** A requirement that the service does not meet. The message has the expected and the actual value. */
export class Failure extends Error {}

/** The requirement does not apply to this service: it lacks an optional part, and says so as it should. */
export class NotApplicable extends Error {}

/** The run of the kit did not get to see it: an option is missing, or a moment was not hit. */
export class NotExercised extends Error {}

export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Failure(message);
}

/** Compares as JSON: the order of fields does not matter. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (canonical(actual) === canonical(expected)) return;
  throw new Failure(`${what}: expected ${excerpt(expected)}, got ${excerpt(actual)}`);
}

const excerptMax = 300;

export function excerpt(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length <= excerptMax ? text : `${text.slice(0, excerptMax)}…`;
}

function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, item: unknown) =>
      isRecord(item)
        ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : item,
    ) ?? 'undefined'
  );
}

/** Reports an error of the connection as a failure of the request. */
export function asFailure(cause: unknown, asked: string): Failure {
  if (cause instanceof Failure) return cause;
  const reasons = [];
  for (let error = cause; error instanceof Error; error = error.cause) reasons.push(error.message);
  return new Failure(`${asked}: no response (${reasons.join(': ')})`, { cause });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
