import { type AgentRule, limits } from '@convoke/contract';
import type { Json } from '../json.ts';
import { matchesGlob } from './glob.ts';
import { isKeptPart } from './kept-part.ts';

/** D-502: one value of the input, and what it is compared with. */
export interface Condition {
  /** Member names and array indexes on the way to the value. */
  readonly path: readonly string[];
  readonly comparison: Comparison;
}

type Scalar = string | number | boolean | null;

type Comparison =
  | { readonly is: 'eq' | 'ne'; readonly value: Scalar }
  | { readonly is: 'in'; readonly values: readonly Scalar[] }
  | { readonly is: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: number }
  | { readonly is: 'like'; readonly glob: string }
  | { readonly is: 'present'; readonly value: boolean };

/** `unknown`: the value is missing or was not kept, or has a type that the comparison does not take (D-503). */
type Comparing = boolean | 'unknown';

type ConditionBody = NonNullable<AgentRule['when']>[number];

export function readCondition(body: ConditionBody): Condition {
  const path = body.path
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { path, comparison: comparisonOf(body) };
}

/** The schema lets through bodies with exactly one comparison. */
function comparisonOf(body: ConditionBody): Comparison {
  const { eq, ne, gt, gte, lt, lte, like, present } = body;
  if (eq !== undefined) return { is: 'eq', value: eq };
  if (ne !== undefined) return { is: 'ne', value: ne };
  if (body.in !== undefined) return { is: 'in', values: body.in };
  if (gt !== undefined) return { is: 'gt', value: gt };
  if (gte !== undefined) return { is: 'gte', value: gte };
  if (lt !== undefined) return { is: 'lt', value: lt };
  if (lte !== undefined) return { is: 'lte', value: lte };
  if (like !== undefined) return { is: 'like', glob: like };
  return { is: 'present', value: present ?? true };
}

export function compare(input: Json, { path, comparison }: Condition): Comparing {
  if (path[0] !== 'title' && isKeptPart(input)) return 'unknown';
  const value = valueAt(input, path);
  if (comparison.is === 'present') return (value !== undefined) === comparison.value;
  if (value === undefined) return 'unknown';
  switch (comparison.is) {
    case 'eq':
      return isSameType(value, comparison.value) ? value === comparison.value : 'unknown';
    case 'ne':
      return isSameType(value, comparison.value) ? value !== comparison.value : 'unknown';
    case 'in':
      return comparison.values.some((each) => isSameType(value, each))
        ? comparison.values.some((each) => each === value)
        : 'unknown';
    case 'like':
      return typeof value === 'string' && value.length <= limits.ruleLikeMaxCharacters
        ? matchesGlob(comparison.glob, value)
        : 'unknown';
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' ? compareNumbers(comparison, value) : 'unknown';
    default:
      return comparison satisfies never;
  }
}

type Order = Extract<Comparison, { is: 'gt' | 'gte' | 'lt' | 'lte' }>;

function compareNumbers({ is, value: bound }: Order, value: number): boolean {
  switch (is) {
    case 'gt':
      return value > bound;
    case 'gte':
      return value >= bound;
    case 'lt':
      return value < bound;
    case 'lte':
      return value <= bound;
    default:
      return is satisfies never;
  }
}

function isSameType(value: Json, other: Scalar): boolean {
  return value === null || other === null ? value === other : typeof value === typeof other;
}

const indexPattern = /^(?:0|[1-9]\d*)$/;

/** Own members and indexes only: what an object inherits is no input. */
function valueAt(input: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = input;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !indexPattern.test(name)) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, Json | undefined>>)[name];
  }
  return value;
}
