/**
 * Encodes free text and JSON values as JSON text for an ordinary text column: PostgreSQL's text and jsonb refuse NUL
 * and lone surrogates, which a model may produce.
 */
export function toJsonText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** Decodes a column that `toJsonText` wrote, so its content has the type of the entity. */
export function fromJsonText<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
