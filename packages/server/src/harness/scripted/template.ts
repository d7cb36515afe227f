import type { Json, JsonObject } from '../../domain/json.ts';

/** A text may contain the prompt many times, so its expanded size is bounded. */
const expandedCharsMax = 4 * 1024 * 1024;

export interface Values {
  readonly prompt: string;
  readonly answer: string;
  readonly run_number: string;
  /** The input of the run: `{{input.ticket}}` is its member `ticket`. */
  readonly input: JsonObject;
}

/** Thrown as soon as a step's texts grow past `expandedCharsMax`. */
export class TooLong extends Error {
  override readonly name = 'TooLong';
}

/**
 * Replaces `{{prompt}}`, `{{answer}}`, `{{run_number}}` and `{{input.<member>}}`; the inserted values are not expanded
 * again.
 */
export function expandText(text: string, values: Values): string {
  return expandWithin(text, values, { left: expandedCharsMax });
}

/** Expands every string of a value, at any depth; names of members are not expanded. */
export function expandObject(data: JsonObject, values: Values): JsonObject {
  return expandMembers(data, values, { left: expandedCharsMax });
}

interface Budget {
  left: number;
}

export function expandJson(value: Json, values: Values): Json {
  return expandValue(value, values, { left: expandedCharsMax });
}

function expandValue(value: Json | undefined, values: Values, budget: Budget): Json {
  if (typeof value === 'string') return expandWithin(value, values, budget);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (isList(value)) return value.map((item) => expandValue(item, values, budget));
  return expandMembers(value, values, budget);
}

function expandMembers(data: JsonObject, values: Values, budget: Budget): JsonObject {
  const members = Object.entries(data).map(([name, value]): [string, Json] => [
    name,
    expandValue(value, values, budget),
  ]);
  return Object.fromEntries(members);
}

function expandWithin(text: string, values: Values, budget: Budget): string {
  if (!text.includes('{{')) return text;
  return text.replace(
    /\{\{(prompt|answer|run_number|input\.[^{}]{1,200})\}\}/g,
    (_, name: string) => {
      const value = valueOf(name, values);
      budget.left -= value.length;
      if (budget.left < 0) throw new TooLong();
      return value;
    },
  );
}

/** A member that is a text is inserted as it is, any other as JSON, and one that is missing as nothing. */
function valueOf(name: string, values: Values): string {
  if (name === 'prompt' || name === 'answer' || name === 'run_number') return values[name];
  const member = name.slice('input.'.length);
  const value = Object.hasOwn(values.input, member) ? values.input[member] : undefined;
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
