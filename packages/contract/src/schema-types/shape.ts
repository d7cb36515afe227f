// What a JSON Schema says of the type of a value. The printers beside this file write it as TypeScript and as Python.

export interface Schema {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly unevaluatedProperties?: boolean | Schema;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

export type Scalar = string | number | boolean | null;

export type Shape =
  | { readonly kind: 'any' | 'boolean' | 'null' | 'integer' | 'number' | 'object' }
  | { readonly kind: 'text'; readonly pattern: string | undefined }
  | { readonly kind: 'values'; readonly values: readonly Scalar[] }
  | { readonly kind: 'reference'; readonly name: string }
  | { readonly kind: 'list'; readonly items: Schema }
  | { readonly kind: 'map'; readonly values: Schema }
  | RecordShape
  | { readonly kind: 'union'; readonly of: readonly Option[] }
  | { readonly kind: 'intersection'; readonly of: readonly Shape[] };

export interface RecordShape {
  readonly kind: 'record';
  readonly schema: Schema;
  readonly members: readonly Member[];
  /** Whether the schema says that the value may have members that it does not name. */
  readonly isOpen: boolean;
}

export interface Member {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

export interface Option {
  readonly schema: Schema;
  readonly shape: Shape;
}

/**
 * Whose schemas are read. Of our contract's, what has no type here is an error: a silent `unknown` would reach the
 * people who use the SDK. An agent's may say anything that JSON Schema can (D-571).
 */
export type Source = 'contract' | 'agent';

/** What type a value has. What only narrows it, such as `minimum` or `not`, says nothing about that (D-930). */
export function shapeOf(schema: Schema | boolean, source: Source): Shape {
  if (typeof schema === 'boolean') return { kind: 'any' };
  const parts = partsOf(schema, source).filter(({ kind }) => kind !== 'any');
  const exact = parts.filter(({ kind }) => kind !== 'object');
  const [first, ...more] = exact.length > 0 ? exact : parts;
  if (first === undefined) return { kind: 'any' };
  return more.length === 0 ? first : { kind: 'intersection', of: [first, ...more] };
}

/** All that is said of the same value. */
function partsOf(schema: Schema, source: Source): Shape[] {
  const { $ref, anyOf, oneOf, allOf = [] } = schema;
  return [
    ownShape(schema, source),
    ...($ref === undefined
      ? []
      : [{ kind: 'reference', name: $ref.split('/').at(-1) ?? '' } as const]),
    ...[anyOf, oneOf].flatMap((options) =>
      options === undefined ? [] : [unionOf(options, source)],
    ),
    ...allOf.map((part) => shapeOf(part, source)),
  ];
}

function unionOf(schemas: readonly Schema[], source: Source): Shape {
  const of = schemas.map((schema) => ({ schema, shape: shapeOf(schema, source) }));
  return of.some(({ shape }) => shape.kind === 'any') ? { kind: 'any' } : { kind: 'union', of };
}

function ownShape(schema: Schema, source: Source): Shape {
  const { type } = schema;
  const listed = schema.const === undefined ? schema.enum : [schema.const];
  if (listed !== undefined) {
    return listed.every(isScalar) ? { kind: 'values', values: listed } : { kind: 'any' };
  }
  if (typeof type === 'object') {
    return unionOf(
      type.map((each) => ({ ...ownOf(schema), type: each })),
      source,
    );
  }
  switch (type) {
    case undefined:
      return { kind: 'any' };
    case 'string':
      return { kind: 'text', pattern: schema.pattern };
    case 'boolean':
    case 'null':
    case 'integer':
    case 'number':
      return { kind: type };
    case 'array':
      // The first items may be of other types.
      return { kind: 'list', items: 'prefixItems' in schema ? {} : (schema.items ?? {}) };
    case 'object':
      return objectShape(schema, source);
    default:
      throw new Error(`no type for the schema ${JSON.stringify(schema)}`);
  }
}

/** The schema without what stands beside its own keywords. */
function ownOf({ $ref: _ref, anyOf: _any, oneOf: _one, allOf: _all, ...own }: Schema): Schema {
  return own;
}

/** Keywords that may add members, or types of members, which a list of them does not have. */
const addingMembers = ['if', 'dependentSchemas', 'patternProperties'];

function objectShape(schema: Schema, source: Source): Shape {
  const { properties, required = [] } = schema;
  const more = schema.additionalProperties ?? schema.unevaluatedProperties;
  const adding = addingMembers.find((keyword) => keyword in schema);
  if (adding !== undefined) {
    if (source === 'contract') throw new Error(`no type for ${adding} of the contract`);
    return { kind: 'object' };
  }
  if (properties === undefined && required.length === 0 && more !== false) {
    return typeof more === 'object' ? { kind: 'map', values: more } : { kind: 'object' };
  }
  // Open: what the API names of it is documentation, and the rest is the agent's.
  if (source === 'contract' && more === true) return { kind: 'object' };
  const named = Object.entries(properties ?? {});
  const unnamed = required.filter((name) => !Object.hasOwn(properties ?? {}, name));
  const members = [...named, ...unnamed.map((name): [string, Schema] => [name, {}])].map(
    ([name, each]) => ({ name, schema: each, isRequired: required.includes(name) }),
  );
  return { kind: 'record', schema, members, isOpen: more !== undefined && more !== false };
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
