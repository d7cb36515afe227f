// JSON Schema, as far as the contract uses it, as Python. What it does not know it refuses: a silent `Any` would reach
// the people who use the client.
import { pascal } from './docstrings.ts';

export interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

interface Names {
  readonly enums: Readonly<Record<string, readonly string[]>>;
  /** Names of the types that references lead to, by the name of their component. */
  readonly refs: Readonly<Record<string, string>>;
  readonly components: Readonly<Record<string, Schema>>;
  /** Names for objects inside others, instead of the path to them. */
  readonly inner: Readonly<Record<string, string>>;
}

/** The types of one file. Objects inside others become classes of their own, because Python has no other way. */
export class TypeFile {
  readonly #names: Names;
  readonly #direction: 'input' | 'output';
  readonly #classes = new Map<string, string>();

  constructor(names: Names, direction: 'input' | 'output') {
    this.#names = names;
    this.#direction = direction;
  }

  get names(): string[] {
    return [...this.#classes.keys()];
  }

  get text(): string {
    return [...this.#classes.values()].join('\n\n\n');
  }

  /** Returns the type of a schema; `path` names it if it is an object. */
  typeOf(schema: Schema, path: string): string {
    if (schema.$ref !== undefined) return this.#reference(schema.$ref);
    const options = schema.anyOf ?? schema.oneOf;
    if (options !== undefined) return this.#union(options, path);
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum !== undefined) return this.#enum(schema.enum);
    switch (schema.type) {
      case 'string':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'array':
        return `${this.#isInput ? 'Sequence' : 'list'}[${this.typeOf(schema.items ?? {}, path)}]`;
      case 'object':
        return this.#object(schema, path);
      case undefined:
        return 'Any';
      default:
        throw new Error(`no type for the schema ${JSON.stringify(schema)}`);
    }
  }

  /** Declares a class under a name. */
  declare(name: string, schema: Schema): void {
    if (this.#classes.has(name)) return;
    // Reserves its place, so that a class stands before those inside it.
    this.#classes.set(name, '');
    const required = new Set(schema.required);
    const fields = Object.entries(schema.properties ?? {});
    const needed = fields.filter(([field]) => required.has(field));
    const reserved = fields.filter(([field]) => reservedWords.has(field));
    const optional = fields.filter(([field]) => !required.has(field) && !reservedWords.has(field));
    const isSplit = needed.length > 0 && optional.length > 0;
    const base = `_${name}Required`;
    const parts: string[] = [];
    if (isSplit) parts.push(this.#class(`${base}(TypedDict)`, needed, name));
    const bases = [base];
    if (reserved.length > 0) {
      bases.push(`_${name}Reserved`);
      parts.push(this.#reserved(`_${name}Reserved`, reserved, { of: name, isSplit, required }));
    }
    const head = isSplit
      ? `${name}(${bases.join(', ')}, total=False)`
      : totalHead(name, needed.length);
    parts.push(this.#class(head, isSplit || needed.length === 0 ? optional : needed, name, schema));
    this.#classes.set(name, parts.join('\n\n\n'));
  }

  /** Fields that no class can name, such as `in`, in the form that takes their names as texts. */
  #reserved(
    base: string,
    fields: readonly (readonly [string, Schema])[],
    { of, isSplit, required }: { of: string; isSplit: boolean; required: ReadonlySet<string> },
  ): string {
    if (!isSplit || fields.some(([field]) => required.has(field))) {
      throw new Error(
        `${of}: only an optional field beside others may have a word of Python as name`,
      );
    }
    const members = fields.map(
      ([field, member]) => `"${field}": "${this.typeOf(member, `${of}${pascal(field)}`)}"`,
    );
    return `${base} = TypedDict("${base}", {${members.join(', ')}}, total=False)`;
  }

  get #isInput(): boolean {
    return this.#direction === 'input';
  }

  #class(
    head: string,
    fields: readonly (readonly [string, Schema])[],
    ...[name, schema]: [string, Schema?]
  ): string {
    const about = schema?.description;
    const lines = fields.flatMap(([field, member]) => [
      ...(member.description === undefined ? [] : [`    #: ${member.description}`]),
      `    ${field}: ${this.typeOf(member, `${name}${pascal(field)}`)}`,
    ]);
    const doc = about === undefined ? [] : [`    """${about}"""`, ''];
    const body = lines.length === 0 ? ['    pass'] : lines;
    return [`class ${head}:`, ...doc, ...body].join('\n');
  }

  #object(schema: Schema, path: string): string {
    const { properties, additionalProperties: more } = schema;
    if (properties === undefined && typeof more === 'object' && Object.keys(more).length > 0) {
      const values = this.typeOf(more, path);
      return this.#isInput ? `Mapping[str, ${values}]` : `dict[str, ${values}]`;
    }
    // Open: what the API names of it is documentation, and the rest is the agent's.
    if (properties === undefined || (more !== undefined && more !== false)) return 'JsonObject';
    const name = this.#names.inner[path] ?? path;
    this.declare(name, schema);
    return name;
  }

  #union(options: readonly Schema[], path: string): string {
    const types = options.map((option, index) =>
      this.typeOf(option, option.type === 'object' ? `${path}${variant(option, index)}` : path),
    );
    return [...new Set(types)].join(' | ');
  }

  #reference(ref: string): string {
    const component = ref.split('/').at(-1) ?? '';
    const name = this.#names.refs[component] ?? component;
    const schema = this.#names.components[component];
    if (schema === undefined) throw new Error(`${component} is not part of the API description`);
    if (name !== 'RunEvent') this.declare(name, schema);
    return name;
  }

  #enum(values: readonly string[]): string {
    const known = Object.entries(this.#names.enums).find(
      ([, list]) => list.join(' ') === values.join(' '),
    );
    return known?.[0] ?? literal(values);
  }
}

/** Names of fields of the API that are words of Python. */
const reservedWords: ReadonlySet<string> = new Set(['in']);

export function literal(values: readonly (string | boolean)[]): string {
  const texts = values.map((value) =>
    typeof value === 'string' ? `"${value}"` : value ? 'True' : 'False',
  );
  return `Literal[${texts.join(', ')}]`;
}

function totalHead(name: string, needed: number): string {
  return needed > 0 ? `${name}(TypedDict)` : `${name}(TypedDict, total=False)`;
}

/** What tells one object of a union from the others. */
function variant({ properties = {} }: Schema, index: number): string {
  const told = Object.values(properties).find((member) => typeof member.const === 'string');
  return told === undefined ? String(index + 1) : pascal(String(told.const));
}
