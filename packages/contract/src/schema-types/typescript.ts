// Shapes as TypeScript.
import { oneLine } from './names.ts';
import {
  type RecordShape,
  type Scalar,
  type Schema,
  type Shape,
  type Source,
  shapeOf,
} from './shape.ts';

export interface Context {
  readonly source: Source;
  /** What is sent may be read-only; what is received is the receiver's own. */
  readonly direction: 'input' | 'output';
  /** Lists of values that have a name of their own. */
  readonly enums: Readonly<Record<string, readonly string[]>>;
  /** Names of the types that references lead to, by the name of their component. */
  readonly refs: Readonly<Record<string, string>>;
}

export function typeOf(schema: Schema, context: Context): string {
  return typeOfShape(shapeOf(schema, context.source), context);
}

function typeOfShape(shape: Shape, context: Context): string {
  switch (shape.kind) {
    case 'any':
      return 'Json';
    case 'object':
      return 'JsonObject';
    case 'boolean':
    case 'null':
      return shape.kind;
    case 'integer':
    case 'number':
      return 'number';
    case 'text':
      return prefixed(shape.pattern) ?? 'string';
    case 'values':
      return valuesName(shape.values, context);
    case 'reference':
      return refName(shape.name, context);
    case 'list':
      return arrayOf(shape.items, context);
    case 'map':
      return mapOf(shape.values, context);
    case 'record':
      return objectOf(shape, context);
    case 'union':
      return distinct(shape.of.map((option) => typeOfShape(option.shape, context))).join(' | ');
    case 'intersection':
      return distinct(shape.of.map((part) => inBrackets(typeOfShape(part, context)))).join(' & ');
    default:
      return shape satisfies never;
  }
}

/** Text that begins with a word and a colon, such as `label:customer`. */
function prefixed(pattern: string | undefined): string | undefined {
  const prefix = /^\^([a-z]+:)/.exec(pattern ?? '')?.[1];
  return prefix === undefined ? undefined : `\`${prefix}\${string}\``;
}

export function union(values: readonly Scalar[]): string {
  return values.map(literal).join(' | ');
}

/** The declaration under its description. */
export function documented(schema: Schema, declaration: string): string {
  if (schema.description === undefined) return declaration;
  return `/** ${oneLine(schema.description).replaceAll('*/', '* /')} */\n${declaration}`;
}

function literal(value: Scalar): string {
  if (typeof value !== 'string') return String(value);
  const text = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${text}'`;
}

function valuesName(values: readonly Scalar[], { enums }: Context): string {
  const known = Object.entries(enums).find(([, list]) => list.join(' ') === values.join(' '));
  return known?.[0] ?? union(values);
}

function refName(component: string, { refs }: Context): string {
  const name = refs[component];
  if (name === undefined)
    throw new Error(`there is no type for ${component}, which is referred to`);
  return name;
}

function arrayOf(items: Schema, context: Context): string {
  const item = typeOf(items, context);
  if (context.direction === 'input') return `ReadonlyArray<${item}>`;
  return /^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`;
}

function mapOf(values: Schema, context: Context): string {
  const type = typeOf(values, context);
  // A type may contain itself by a member, and not by an argument of a generic type.
  if (context.source === 'agent') return `{ [member: string]: ${type} }`;
  const map = `Record<string, ${type}>`;
  return context.direction === 'input' ? `Readonly<${map}>` : map;
}

function objectOf({ members, isOpen }: RecordShape, context: Context): string {
  const fields = members.map(({ name, schema, isRequired }) => {
    const type = typeOf(schema, context);
    const field = /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
    return documented(
      schema,
      isRequired ? `${field}: ${type};` : `${field}?: ${type} | undefined;`,
    );
  });
  if (context.source === 'agent') {
    if (isOpen) fields.push('[member: string]: unknown;');
    if (fields.length === 0) return '{ [member: string]: never }';
  }
  return `{\n${fields.map(indented).join('\n')}\n}`;
}

export function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}

function inBrackets(type: string): string {
  return type.includes(' | ') ? `(${type})` : type;
}

function distinct(types: readonly string[]): readonly string[] {
  return [...new Set(types)];
}
