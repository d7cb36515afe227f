import type { Json, JsonObject } from '../../domain/json.ts';
import { isObject } from '../../domain/json.ts';
import { mapSchemas } from './keywords.ts';

/** The steps of checking a value against one schema, without those of the schemas inside it. */
export interface CheckCost {
  readonly steps: number;
  /** How often the names of an object are gone through. */
  readonly perMember: number;
  /** How often the characters of a text are counted. */
  readonly perText: number;
}

/** No schema of an author can have it: the walk refuses what is no keyword. */
export const costKeyword = 'convoke:cost';

/** A branch that fails makes an object. */
const schemaSteps = 16;
/** Each name of an object with so many is looked up in a table. */
const tableMembers = 64;
const tableMemberSteps = 30;
/** Counting so many characters takes one step. */
const charactersPerStep = 5;

const countsMembers = ['minProperties', 'maxProperties', 'propertyNames', 'patternProperties'];
const restMembers = ['additionalProperties', 'unevaluatedProperties'];
const countsCharacters = ['minLength', 'maxLength'];

/** The schema with its cost in each schema inside, for a validator that adds them up. */
export function withCosts(schema: JsonObject): JsonObject {
  const cost = costOf(schema);
  const mapped = mapSchemas(schema, (each) => (isObject(each) ? withCosts(each) : each));
  return cost === undefined ? mapped : { ...mapped, [costKeyword]: { ...cost } };
}

/** Undefined for a schema that checks nothing itself. */
function costOf(schema: JsonObject): CheckCost | undefined {
  if (Object.keys(schema).length === 0) return undefined;
  const { const: constant, enum: listed, required, properties, dependentRequired } = schema;
  const compared = [...(constant === undefined ? [] : [constant]), ...listOf(listed)];
  const named = [required, properties, dependentRequired];
  const has = (names: readonly string[]) => names.filter((name) => name in schema).length;
  return {
    steps: schemaSteps + sum(compared.map(valuesIn)) + sum(named.map(entriesOf)),
    perMember: has(countsMembers) + has(restMembers) + compared.filter(isObject).length,
    perText: has(countsCharacters),
  };
}

/** What it costs to check this value. */
export function stepsOf({ steps, perMember, perText }: CheckCost, value: Json): number {
  if (typeof value === 'string') return steps + (perText * value.length) / charactersPerStep;
  if (perMember === 0 || !isObject(value)) return steps;
  const members = Object.keys(value).length;
  return steps + perMember * members * (members < tableMembers ? 1 : tableMemberSteps);
}

function valuesIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + sum(Object.values(value).map((each: Json | undefined) => valuesIn(each ?? null)));
}

function entriesOf(value: Json | undefined): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
