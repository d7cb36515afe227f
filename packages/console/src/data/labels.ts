/** Labels as one text each, in the order of their keys. */
export function labelTexts(labels: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(labels)
    .map(([key, value]) => `${key}:${value}`)
    .toSorted((a, b) => (a < b ? -1 : 1));
}

/** In a row, the id of a schedule would say nothing: the server labels every run of one with it. */
export function labelInRow(label: string): string {
  return label.startsWith('schedule_id:') ? 'scheduled' : label;
}

const keyPattern = /^[a-z][a-z0-9_.-]{0,63}$/;

/** Whether the words are the key of a label. */
export function isLabelKey(words: string): boolean {
  return keyPattern.test(words);
}

/** Whether the words are `key:value`; the server refuses others. */
export function isLabel(words: string): boolean {
  const colon = words.indexOf(':');
  return colon > 0 && isLabelKey(words.slice(0, colon));
}
