/**
 * Free text and JSON values are kept as JSON text in an ordinary text column: PostgreSQL's own text and
 * jsonb refuse NUL and lone surrogates, which a model may well produce.
 */
export function toJsonText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** The column was written by `toJsonText`, so what it holds is what the entity's type says. */
export function fromJsonText<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
