import type { Json } from '../json.ts';

/** A rule of agent.yaml, with the members that decide what happens to a call. */
export interface Rule {
  readonly name: string;
  /** Globs. */
  readonly tools: readonly string[];
  /** All of them have to hold. */
  readonly when?: readonly Condition[];
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly reason?: string;
  readonly observe?: boolean;
  /** Such as `wait_hours`, which decide nothing here. */
  readonly [member: string]: unknown;
}

/** One comparison of the value at a JSON Pointer into the input. */
export type Condition = { readonly path: string } & Readonly<
  Partial<Record<'eq' | 'ne', Scalar>> &
    Partial<Record<'gt' | 'gte' | 'lt' | 'lte', number>> & {
      in?: readonly Scalar[];
      like?: string;
      present?: boolean;
    }
>;

type Scalar = string | number | boolean | null;

export type Ruling =
  | { readonly effect: 'allow' | 'ask' }
  | { readonly effect: 'deny'; readonly reason: string };

export interface RuledCall {
  readonly tool: string;
  readonly input: Json;
}

/** Longer texts are not compared. */
const likeMax = 16 * 1024;

/**
 * What the server's `domain/rules.ts` decides with the rules of an agent. A test of all three implementations reads
 * their cases from `rule-cases.jsonl`.
 */
export function decide(rules: readonly Rule[], { tool, input }: RuledCall): Ruling {
  const rule = rules.find((each) => each.observe !== true && matches(each, tool, input));
  if (rule === undefined || rule.effect === 'allow') return { effect: 'allow' };
  if (rule.effect === 'ask') return { effect: 'ask' };
  const because = rule.reason === undefined ? '.' : `: ${rule.reason}`;
  return { effect: 'deny', reason: `Not allowed by the rule ${rule.name} of the agent${because}` };
}

function matches({ tools, when = [], effect }: Rule, tool: string, input: Json): boolean {
  if (!tools.some((glob) => isLike(tool, glob))) return false;
  // What cannot be compared is no reason to allow a call (D-503).
  return when.every((condition) => holds(condition, input) ?? effect !== 'allow');
}

/** Undefined if the value cannot be compared. */
function holds(condition: Condition, input: Json): boolean | undefined {
  const { path, present, eq, ne, in: any, gt, gte, lt, lte, like } = condition;
  const value = valueAt(path, input);
  if (present !== undefined) return (value !== undefined) === present;
  if (any !== undefined) {
    const same = any.filter((each) => isSameType(each, value));
    return same.length === 0 ? undefined : same.includes(value as Scalar);
  }
  if (like !== undefined) {
    if (typeof value !== 'string' || value.length > likeMax) return undefined;
    return isLike(value, like);
  }
  const other = [eq, ne, gt, gte, lt, lte].find((each) => each !== undefined);
  if (other === undefined || !isSameType(other, value)) return undefined;
  if (eq !== undefined) return value === eq;
  if (ne !== undefined) return value !== ne;
  const [number, bound] = [value as number, other as number];
  if (gt !== undefined) return number > bound;
  if (gte !== undefined) return number >= bound;
  return lt !== undefined ? number < bound : number <= bound;
}

function isSameType(one: Scalar, other: unknown): boolean {
  return one === null ? other === null : other !== null && typeof one === typeof other;
}

/** The value at a JSON Pointer: own members and indexes only. */
function valueAt(path: string, input: Json): unknown {
  let value: unknown = input;
  for (const part of path.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(name)) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** `*` stands for any text. */
function isLike(text: string, glob: string): boolean {
  const [head = '', ...parts] = glob.split('*');
  const tail = parts.pop();
  if (tail === undefined) return text === glob;
  if (!text.startsWith(head) || !text.endsWith(tail)) return false;
  let from = head.length;
  for (const part of parts) {
    const found = text.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return from <= text.length - tail.length;
}
