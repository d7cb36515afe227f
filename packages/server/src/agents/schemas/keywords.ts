import { nearestName } from '@convoke/contract';
import { type Json, type JsonObject, isObject } from '../../domain/json.ts';
import type { AgentProblem } from '../../ports/harness.ts';

/** What the value of a keyword has to be: a plain value, or something with schemas, patterns or names inside. */
const plainKinds = ['count', 'number', 'step', 'names', 'type', 'list', 'flag', 'note'] as const;
const kinds = [
  'schema',
  'schemas',
  'schema map',
  'pattern map',
  'pattern',
  'name lists',
  'reference',
  ...plainKinds,
] as const;
type Kind = (typeof kinds)[number];
type PlainKind = (typeof plainKinds)[number];

/**
 * The keywords of JSON Schema 2020-12 that check something here or say something to people (D-560). Any other one is
 * refused, because a keyword that was misspelt would check nothing.
 */
const keywordsOf: Readonly<Record<Kind, string>> = {
  schema:
    'additionalProperties unevaluatedProperties propertyNames items unevaluatedItems contains not if then else',
  schemas: 'prefixItems allOf anyOf oneOf',
  'schema map': 'properties dependentSchemas $defs',
  'pattern map': 'patternProperties',
  pattern: 'pattern',
  'name lists': 'dependentRequired',
  reference: '$ref',
  count:
    'minProperties maxProperties minContains maxContains minItems maxItems minLength maxLength',
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum',
  step: 'multipleOf',
  names: 'required',
  type: 'type',
  list: 'enum',
  flag: 'uniqueItems',
  note: 'const title description default examples deprecated readOnly writeOnly format contentEncoding contentMediaType $comment $schema',
};
const keywords: ReadonlyMap<string, Kind> = new Map(
  kinds.flatMap((kind) => keywordsOf[kind].split(' ').map((name) => [name, kind] as const)),
);

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const dialect = 'https://json-schema.org/draft/2020-12/schema';
const referencePattern = /^#\/\$defs\/([A-Za-z0-9_.-]+)$/;
const levelsMax = 32;

type Path = readonly PropertyKey[];

/** The schema with another one in the place of each that stands directly in it. */
export function mapSchemas(schema: JsonObject, map: (inner: Json) => Json): JsonObject {
  const mapped = Object.entries(schema).map(([name, value = null]): [string, Json] => {
    const kind = keywords.get(name);
    if (kind === 'schema') return [name, map(value)];
    if (kind === 'schemas' && isList(value)) return [name, value.map(map)];
    const isMap = kind === 'schema map' || kind === 'pattern map';
    if (!isMap || !isObject(value)) return [name, value];
    const inner = Object.entries(value).map(([of, each = null]) => [of, map(each)]);
    return [name, Object.fromEntries(inner) as JsonObject];
  });
  return Object.fromEntries(mapped);
}

/** Finds what cannot be checked in a schema, each problem with its path. */
export class SchemaWalk {
  readonly problems: AgentProblem[] = [];
  /** Patterns with their places: an engine is loaded only for a schema that has some. */
  readonly patterns: { readonly pattern: string; readonly path: Path }[] = [];
  readonly #defined: JsonObject;
  #level = 0;

  constructor(root: JsonObject) {
    this.#defined = isObject(root['$defs']) ? root['$defs'] : {};
    this.#walk(root, []);
    if (this.problems.length === 0) this.#refuseLoops(root);
  }

  #report(path: Path, message: string): void {
    this.problems.push({ path, message });
  }

  #walk(schema: Json | undefined, path: Path): void {
    const isRoot = this.#level === 0;
    if (typeof schema === 'boolean' && !isRoot) return;
    if (!isObject(schema)) return this.#report(path, 'must be a schema: a mapping, true or false');
    if (this.#level === levelsMax) {
      return this.#report(path, `is nested deeper than ${levelsMax} levels`);
    }
    this.#level += 1;
    for (const [name, value] of Object.entries(schema))
      this.#keyword(name, value, { path, isRoot });
    this.#level -= 1;
  }

  #keyword(name: string, value: Json | undefined, at: { path: Path; isRoot: boolean }): void {
    const path = [...at.path, name];
    if (name.startsWith('x-')) return;
    const kind = keywords.get(name);
    if (kind === undefined) return this.#report(path, unknown(name));
    if ((name === '$defs' || name === '$schema') && !at.isRoot) {
      return this.#report(path, 'belongs at the root of the schema');
    }
    if (name === '$schema' && value !== dialect) {
      return this.#report(path, `must be ${dialect}, the only version`);
    }
    const problem = this.#check(kind, value, path);
    if (problem !== undefined) this.#report(path, problem);
  }

  /** Checks one value, and walks the schemas inside. Returns the problem of the value itself. */
  #check(kind: Kind, value: Json | undefined, path: Path): string | undefined {
    switch (kind) {
      case 'schema':
        this.#walk(value, path);
        return undefined;
      case 'schemas':
        if (!isList(value) || value.length === 0) return 'must be a list of schemas';
        for (const [index, each] of value.entries()) this.#walk(each, [...path, index]);
        return undefined;
      case 'schema map':
      case 'pattern map':
        if (!isObject(value)) return 'must be a mapping of names to schemas';
        for (const [name, each] of Object.entries(value)) {
          if (kind === 'pattern map') this.patterns.push({ pattern: name, path: [...path, name] });
          this.#walk(each, [...path, name]);
        }
        return undefined;
      case 'pattern':
        if (typeof value !== 'string') return 'must be a string';
        this.patterns.push({ pattern: value, path });
        return undefined;
      case 'reference':
        return this.#referenceProblem(value);
      case 'name lists':
        if (isObject(value) && Object.values(value).every(areNames)) return undefined;
        return 'must be a mapping of names to lists of names';
      case 'count':
      case 'number':
      case 'step':
      case 'names':
      case 'type':
      case 'list':
      case 'flag':
      case 'note':
        return plainProblem(kind, value);
      default:
        return kind satisfies never;
    }
  }

  #referenceProblem(value: Json | undefined): string | undefined {
    const name = typeof value === 'string' ? referencePattern.exec(value)?.[1] : undefined;
    if (name === undefined) return 'must be #/$defs/<name>: schemas outside this one are not read';
    return Object.hasOwn(this.#defined, name)
      ? undefined
      : `names ${name}, which $defs does not have`;
  }

  /** A schema that refers to itself without going into the value would be checked without end. */
  #refuseLoops(root: JsonObject): void {
    const isSafe = new Set<JsonObject>();
    const visit = (schema: Json | undefined, open: readonly JsonObject[]): boolean => {
      if (!isObject(schema) || isSafe.has(schema)) return true;
      if (open.includes(schema)) return false;
      const inner = inPlace(schema).map((each) => this.#resolved(each));
      const isFine = inner.every((each) => visit(each, [...open, schema]));
      if (isFine) isSafe.add(schema);
      return isFine;
    };
    for (const [name, schema] of Object.entries(this.#defined)) {
      if (!visit(schema, [])) {
        return this.#report(['$defs', name], 'leads by $ref back to itself, for the same value');
      }
    }
    if (!visit(root, [])) this.#report(['$ref'], 'leads back to itself, for the same value');
  }

  #resolved(schema: Json | undefined): Json | undefined {
    if (typeof schema !== 'string') return schema;
    return this.#defined[referencePattern.exec(schema)?.[1] ?? ''];
  }
}

/** The schemas that are applied to the same value; a reference as its text. */
function inPlace(schema: JsonObject): readonly (Json | undefined)[] {
  const { allOf, anyOf, oneOf, dependentSchemas } = schema;
  const lists = [allOf, anyOf, oneOf].flatMap((each) => (isList(each) ? each : []));
  const dependent = isObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
  return [
    schema['not'],
    schema['if'],
    schema['then'],
    schema['else'],
    schema['$ref'],
    ...lists,
    ...dependent,
  ];
}

function plainProblem(kind: PlainKind, value: Json | undefined): string | undefined {
  switch (kind) {
    case 'count':
      return Number.isSafeInteger(value) && Number(value) >= 0
        ? undefined
        : 'must be a whole number, 0 or more';
    case 'number':
      return typeof value === 'number' ? undefined : 'must be a number';
    case 'step':
      return typeof value === 'number' && value > 0 ? undefined : 'must be a number above 0';
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'names':
      return areNames(value) ? undefined : 'must be a list of names, each once';
    case 'list':
      return isList(value) && value.length > 0 ? undefined : 'must be a list of values';
    case 'type': {
      const names = isList(value) ? value : [value];
      const areTypes =
        names.length > 0 && names.every((name) => typeof name === 'string' && types.includes(name));
      return areTypes ? undefined : `must be one of ${types.join(', ')}, or a list of them`;
    }
    case 'note':
      return undefined;
    default:
      return kind satisfies never;
  }
}

function unknown(name: string): string {
  const nearest = nearestName(name, [...keywords.keys()]);
  const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  return `is an unknown keyword, which would check nothing${hint}`;
}

function areNames(value: Json | undefined): boolean {
  if (!isList(value) || !value.every((name) => typeof name === 'string')) return false;
  return new Set(value).size === value.length;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
