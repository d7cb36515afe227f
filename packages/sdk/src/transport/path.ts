/**
 * A path with values filled in, each as one segment whatever it holds.
 *
 * @example at`/v1/sessions/${id}/runs`
 */
export function at(texts: TemplateStringsArray, ...values: readonly string[]): string {
  return texts.reduce((path, text, index) => path + segment(values[index - 1] ?? '') + text);
}

/** An empty segment, or one of dots, would silently lead to another resource. */
function segment(value: string): string {
  if (typeof value === 'string' && /[^.]/.test(value)) return encodeURIComponent(value);
  throw new TypeError(`"${value}" is not an id`);
}
