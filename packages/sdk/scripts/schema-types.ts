// JSON Schema, as far as the contract uses it, as TypeScript. What it does not know it refuses: a silent `unknown`
// would reach the people who use the SDK.

export interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string | boolean;
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

export interface Context {
  /** What is sent may be read-only; what is received is the receiver's own. */
  readonly direction: 'input' | 'output';
  readonly enums: Readonly<Record<string, readonly string[]>>;
  /** Names of the types that references lead to, by the name of their component. */
  readonly refs: Readonly<Record<string, string>>;
}

export function typeOf(schema: Schema, context: Context): string {
  if (schema.$ref !== undefined) return refName(schema.$ref, context);
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((option) => typeOf(option, context)).join(' | ');
  }
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return enumName(schema.enum, context);
  switch (schema.type) {
    case 'string':
      return prefixed(schema.pattern) ?? schema.type;
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayOf(schema, context);
    case 'object':
      if (typeof schema.additionalProperties === 'object' && schema.properties === undefined) {
        return mapOf(schema.additionalProperties, context);
      }
      // Open: what the API names of it is documentation, and the rest is the agent's.
      return schema.properties === undefined || schema.additionalProperties === true
        ? 'JsonObject'
        : objectOf(schema, context);
    case undefined:
      return 'Json';
    default:
      throw new Error(`no type for the schema ${JSON.stringify(schema)}`);
  }
}

/** Text that begins with a word and a colon, such as `label:customer`. */
function prefixed(pattern: string | undefined): string | undefined {
  const prefix = /^\^([a-z]+:)/.exec(pattern ?? '')?.[1];
  return prefix === undefined ? undefined : `\`${prefix}\${string}\``;
}

export function union(values: readonly (string | boolean)[]): string {
  return values.map(literal).join(' | ');
}

/** The declaration under its description. */
export function documented(schema: Schema, declaration: string): string {
  return schema.description === undefined
    ? declaration
    : `/** ${schema.description} */\n${declaration}`;
}

function literal(value: string | boolean): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function enumName(values: readonly string[], { enums }: Context): string {
  const known = Object.entries(enums).find(([, list]) => list.join(' ') === values.join(' '));
  return known?.[0] ?? union(values);
}

function refName(ref: string, { refs }: Context): string {
  const component = ref.split('/').at(-1) ?? '';
  const name = refs[component];
  if (name === undefined)
    throw new Error(`${component} is referred to, but the SDK has no such type`);
  return name;
}

function arrayOf(schema: Schema, context: Context): string {
  const item = typeOf(schema.items ?? {}, context);
  if (context.direction === 'input') return `ReadonlyArray<${item}>`;
  return /^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`;
}

function mapOf(values: Schema, context: Context): string {
  const map = `Record<string, ${typeOf(values, context)}>`;
  return context.direction === 'input' ? `Readonly<${map}>` : map;
}

function objectOf(schema: Schema, context: Context): string {
  const required = new Set(schema.required);
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const type = typeOf(member, context);
    const field = required.has(name) ? `${name}: ${type};` : `${name}?: ${type} | undefined;`;
    return documented(member, field);
  });
  return `{\n${members.join('\n')}\n}`;
}
