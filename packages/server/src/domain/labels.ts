import { type Labels, labelKeyPattern, limits } from '@convoke/contract';
import type { Json, JsonObject } from './json.ts';
import { type Ruling, accepted, refused } from './refusal.ts';

/** Characters that a terminal or a database would take for something else. */
const controlPattern = /[\u0000-\u001f\u007f]/u;

/** D-252: checks the labels of a request. */
export function readLabels(given: JsonObject): Ruling<Labels> {
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    const problem = problemOfKey(key) ?? problemOfValue(key, value);
    if (problem !== undefined) return refused('invalid_label', problem);
    if (typeof value === 'string') labels[key] = value;
  }
  return withinLimit(labels);
}

/** Merges changes by key; null removes a label. */
export function changeLabels(known: Labels, changes: JsonObject): Ruling<Labels> {
  const removed = new Set(Object.keys(changes).filter((key) => changes[key] === null));
  for (const key of removed) {
    const problem = problemOfKey(key);
    if (problem !== undefined) return refused('invalid_label', problem);
  }
  const kept = Object.entries(changes).filter(([key]) => !removed.has(key));
  const read = readLabels(Object.fromEntries(kept));
  if (!read.ok) return read;
  const left = Object.entries(known).filter(([key]) => !removed.has(key));
  return withinLimit({ ...Object.fromEntries(left), ...read.value });
}

/** The labels of a new run: those of its session, and its own. */
export function inheritLabels(inherited: Labels, own: Labels): Ruling<Labels> {
  return withinLimit({ ...inherited, ...own });
}

function withinLimit(labels: Labels): Ruling<Labels> {
  if (Object.keys(labels).length <= limits.labelsMax) return accepted(labels);
  return refused('label_limit_reached', `labels: there may be at most ${limits.labelsMax}.`);
}

function problemOfKey(key: string): string | undefined {
  if (labelKeyPattern.test(key)) return undefined;
  return `labels: ${JSON.stringify(key.slice(0, limits.idMaxCharacters))} is not a key: use a-z, 0-9, _, . and -, at most 64 characters, beginning with a letter.`;
}

function problemOfValue(key: string, value: Json | undefined): string | undefined {
  const isText =
    typeof value === 'string' &&
    value.length <= limits.labelValueMaxCharacters &&
    value.isWellFormed() &&
    !controlPattern.test(value);
  if (isText) return undefined;
  return `labels.${key}: must be text of at most ${limits.labelValueMaxCharacters} characters without control characters.`;
}

/** One label that a list is filtered by. */
export interface Label {
  readonly key: string;
  readonly value: string;
}

export function hasLabels(labels: Labels, wanted: readonly Label[]): boolean {
  return wanted.every(({ key, value }) => labels[key] === value);
}
