/**
 * Builds a path; encodes each value as one segment.
 *
 * @example at`/v1/sessions/${id}/runs`
 */
export function at(texts: TemplateStringsArray, ...values: readonly string[]): string {
  return texts.reduce((path, text, index) => path + segment(values[index - 1] ?? '') + text);
}

/** Rejects an empty segment and dots, which would address another resource. */
function segment(value: string): string {
  if (typeof value === 'string' && /[^.]/.test(value)) return encodeURIComponent(value);
  throw new TypeError(`"${value}" is not an id`);
}
