// Shapes as Python.
import { freeName, oneLine, typeName } from './names.ts';
import {
  type Member,
  type RecordShape,
  type Scalar,
  type Schema,
  type Shape,
  type Source,
  shapeOf,
} from './shape.ts';

interface Names {
  readonly source: Source;
  readonly enums: Readonly<Record<string, readonly string[]>>;
  /** Names of the types that references lead to, by the name of their component. */
  readonly refs: Readonly<Record<string, string>>;
  readonly components: Readonly<Record<string, Schema>>;
  /** Names for objects inside others, instead of the path to them. */
  readonly inner: Readonly<Record<string, string>>;
  /** Names that other types of an agent's module have. */
  readonly taken?: ReadonlySet<string>;
}

/** The types of one file. Objects inside others become classes of their own, because Python has no other way. */
export class TypeFile {
  readonly #names: Names;
  readonly #direction: 'input' | 'output';
  /** Texts of what is declared, and of which schema each is. */
  readonly #declared = new Map<string, { readonly text: string; readonly schema: Schema }>();

  constructor(names: Names, direction: 'input' | 'output') {
    this.#names = names;
    this.#direction = direction;
  }

  get names(): string[] {
    return [...this.#declared.keys()];
  }

  get text(): string {
    return Array.from(this.#declared.values(), ({ text }) => text).join('\n\n\n');
  }

  /** Returns the type of a schema; `path` names it if it is an object. */
  typeOf(schema: Schema, path: string): string {
    return this.#type(shapeOf(schema, this.#names.source), path);
  }

  #type(shape: Shape, path: string): string {
    switch (shape.kind) {
      case 'any':
        return 'Any';
      case 'object':
        return 'JsonObject';
      case 'text':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'values':
        return this.#values(shape.values);
      case 'reference':
        return this.#reference(shape.name);
      case 'list':
        return `${this.#isInput ? 'Sequence' : 'list'}[${this.typeOf(shape.items, path)}]`;
      case 'map':
        return this.#map(shape.values, path);
      case 'record':
        return this.#record(shape, path);
      case 'union': {
        const types = shape.of.map(({ schema, shape: option }, index) =>
          this.#type(option, option.kind === 'record' ? `${path}${variant(schema, index)}` : path),
        );
        return [...new Set(types)].join(' | ');
      }
      case 'intersection':
        // Python has none.
        return 'Any';
      default:
        return shape satisfies never;
    }
  }

  /** Declares a type under a name. */
  declare(name: string, schema: Schema): void {
    if (this.#declared.has(name)) return;
    // Reserves its place, so that a class stands before those inside it.
    this.#declared.set(name, { text: '', schema });
    const shape = shapeOf(schema, this.#names.source);
    const isClass = shape.kind === 'record' && (this.#names.source === 'contract' || !shape.isOpen);
    // As a text, because it may name types that are declared below.
    const text = isClass
      ? this.#classes(name, shape)
      : `${name}: TypeAlias = ${quoted(this.#type(shape, name))}`;
    this.#declared.set(name, { text, schema });
  }

  get #isInput(): boolean {
    return this.#direction === 'input';
  }

  /**
   * A class, after those that it is made of: one for the members that must be there, and those that no class can name.
   */
  #classes(name: string, { schema, members }: RecordShape): string {
    const plain = members.filter((member) => isField(member.name));
    const others = members.filter((member) => !isField(member.name));
    const needed = plain.filter(({ isRequired }) => isRequired);
    const optional = plain.filter(({ isRequired }) => !isRequired);
    const bases: string[] = [];
    const parts: string[] = [];
    const add = (base: string, text: string) => {
      bases.push(base);
      parts.push(text);
    };
    if (needed.length > 0 && (optional.length > 0 || others.length > 0)) {
      add(`_${name}Required`, this.#class(`_${name}Required(TypedDict)`, needed, name));
    }
    for (const isRequired of [true, false]) {
      const same = others.filter((member) => member.isRequired === isRequired);
      const base = `_${name}Reserved${isRequired ? 'Required' : ''}`;
      if (same.length > 0) add(base, this.#reserved(base, same, name));
    }
    const isSplit = bases.length > 0;
    const isTotal = !isSplit && needed.length > 0;
    const above = isSplit ? bases.join(', ') : 'TypedDict';
    const head = `${name}(${above}${isTotal ? '' : ', total=False'})`;
    parts.push(this.#class(head, isTotal ? needed : optional, name, schema));
    return parts.join('\n\n\n');
  }

  /** Members that no class can name, such as `in`, in the form that takes their names as texts. */
  #reserved(base: string, members: readonly Member[], of: string): string {
    const fields = members.map(
      ({ name, schema }) =>
        `${quoted(name)}: ${quoted(this.typeOf(schema, `${of}${typeName(name)}`))}`,
    );
    const total = members.some(({ isRequired }) => isRequired) ? '' : ', total=False';
    return `${base} = TypedDict("${base}", {${fields.join(', ')}}${total})`;
  }

  #class(head: string, members: readonly Member[], ...[name, schema]: [string, Schema?]): string {
    const about = schema?.description;
    const lines = members.flatMap(({ name: field, schema: member }) => [
      ...(member.description === undefined ? [] : [`    #: ${oneLine(member.description)}`]),
      `    ${field}: ${this.typeOf(member, `${name}${typeName(field)}`)}`,
    ]);
    const doc = about === undefined ? [] : [`    """${docstring(about)}"""`, ''];
    const body = lines.length === 0 ? ['    pass'] : lines;
    return [`class ${head}:`, ...doc, ...body].join('\n');
  }

  #map(values: Schema, path: string): string {
    if (Object.keys(values).length === 0) return 'JsonObject';
    const type = this.typeOf(values, path);
    return this.#isInput ? `Mapping[str, ${type}]` : `dict[str, ${type}]`;
  }

  #record(shape: RecordShape, path: string): string {
    // Open: a class of Python has the members that it names and no others.
    if (shape.isOpen) return 'JsonObject';
    const name = this.#nameFor(this.#names.inner[path] ?? path, shape.schema);
    this.declare(name, shape.schema);
    return name;
  }

  /** Two paths of an agent's schema may give the same name. */
  #nameFor(name: string, schema: Schema): string {
    const { source, taken } = this.#names;
    if (source === 'contract') return name;
    return freeName(name, (each) => {
      const declared = this.#declared.get(each);
      return taken?.has(each) === true || (declared !== undefined && declared.schema !== schema);
    });
  }

  #reference(component: string): string {
    const name = this.#names.refs[component] ?? component;
    const schema = this.#names.components[component];
    if (schema === undefined)
      throw new Error(`there is no type for ${component}, which is referred to`);
    if (name !== 'RunEvent') this.declare(name, schema);
    return name;
  }

  #values(values: readonly Scalar[]): string {
    const known = Object.entries(this.#names.enums).find(
      ([, list]) => list.join(' ') === values.join(' '),
    );
    return known?.[0] ?? literal(values);
  }
}

/** Words of Python, which no class can have as the name of a member. */
const reservedWords: ReadonlySet<string> = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** Names of types: inside a class, a member of the same name would be meant. */
const typeWords: ReadonlySet<string> = new Set(
  'Any JsonObject Literal Mapping Sequence bool dict float int list str'.split(' '),
);

/** Two underscores in front would be changed to a name of the class. */
function isField(name: string): boolean {
  return /^(?!__)[A-Za-z_]\w*$/.test(name) && !reservedWords.has(name) && !typeWords.has(name);
}

export function literal(values: readonly Scalar[]): string {
  // Python has no literal types for fractions.
  const isFraction = (value: Scalar) => typeof value === 'number' && !Number.isSafeInteger(value);
  const texts = values.filter((value) => !isFraction(value)).map(literalText);
  return [
    ...(texts.length === 0 ? [] : [`Literal[${texts.join(', ')}]`]),
    ...(values.some(isFraction) ? ['float'] : []),
  ].join(' | ');
}

function literalText(value: Scalar): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return String(value);
  return value === null ? 'None' : value ? 'True' : 'False';
}

function quoted(value: string): string {
  return JSON.stringify(value);
}

function docstring(description: string): string {
  return oneLine(description).replaceAll('\\', '\\\\').replaceAll('"', "'");
}

/** What tells one object of a union from the others. */
function variant({ properties = {} }: Schema, index: number): string {
  const told = Object.values(properties).find((member) => typeof member.const === 'string');
  return told === undefined ? String(index + 1) : typeName(String(told.const));
}
