// The form for the input of an agent: its fields, from the schema, and the input, from what a person has typed.
import type { Json } from '@convoke/sdk';

type Members = Readonly<Record<string, Json | undefined>>;

interface FieldDescription {
  readonly name: string;
  /** What people call it: the title of its schema, else its name. */
  readonly label: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
}

export type SchemaField = FieldDescription &
  (
    | { readonly kind: 'text' | 'lines' | 'number' | 'json'; readonly initial: string }
    | { readonly kind: 'flag'; readonly initial: boolean | undefined }
    | { readonly kind: 'choice'; readonly initial: string; readonly values: readonly Json[] }
  );

/** What is in a field: text, the number of a choice as text, or a flag that may not have been set. */
export type FieldInputs = Readonly<Record<string, string | boolean | undefined>>;

/** Whether the agent takes more than a prompt and files, which the composer has. */
export function takesMore(schema: Members): boolean {
  const names = Object.keys(membersOf(schema['properties']) ?? {});
  const isClosed = schema['additionalProperties'] === false;
  return !isClosed || names.some((name) => name !== 'prompt' && name !== 'files');
}

/** More than these, and a form is harder to fill in than the text. */
const maxFields = 20;

/** Keywords with which the members of an input follow from more than `properties`. */
const combining = [
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'patternProperties',
  'dependentSchemas',
];

/** One field for each member; undefined for a schema that is edited as JSON. */
export function fieldsOf(schema: Members): readonly SchemaField[] | undefined {
  const properties = membersOf(schema['properties']);
  if (properties === undefined || combining.some((keyword) => keyword in schema)) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(properties)
    .filter(([name]) => name !== 'files')
    .map(([name, member]) => fieldOf(name, membersOf(member) ?? {}, required.includes(name)));
  return fields.length > maxFields ? undefined : fields;
}

function fieldOf(name: string, schema: Members, isRequired: boolean): SchemaField {
  const { title, description, default: initial, enum: values, type } = schema;
  const hint = typeof description === 'string' ? description : undefined;
  const label = typeof title === 'string' && title.trim() !== '' ? title : name;
  const about = { name, label, hint, isRequired };
  const text = initial === undefined ? '' : JSON.stringify(initial);
  if (Array.isArray(values)) {
    const chosen = values.findIndex((value) => JSON.stringify(value) === text);
    return { ...about, kind: 'choice', values, initial: chosen === -1 ? '' : String(chosen) };
  }
  switch (typeof type === 'string' ? type : '') {
    case 'string':
      return { ...about, kind: 'text', initial: typeof initial === 'string' ? initial : '' };
    case 'integer':
    case 'number':
      return { ...about, kind: 'number', initial: text };
    case 'boolean':
      return {
        ...about,
        kind: 'flag',
        initial: initial === undefined ? undefined : initial === true,
      };
    default:
      if (type === 'array' && membersOf(schema['items'])?.['type'] === 'string') {
        const lines = Array.isArray(initial) ? initial.join('\n') : '';
        return { ...about, kind: 'lines', initial: lines };
      }
      return { ...about, kind: 'json', initial: text };
  }
}

export function initialOf(fields: readonly SchemaField[], draft: string | undefined): FieldInputs {
  const typed = Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));
  return draft !== undefined && 'prompt' in typed ? { ...typed, prompt: draft } : typed;
}

/**
 * The input as it is typed. A field that is empty is no member; a number that is none is sent as its text, so that the
 * server says at this field what it wants.
 */
export function inputOf(
  fields: readonly SchemaField[],
  typed: FieldInputs,
): Readonly<Record<string, Json>> {
  const members = fields.flatMap((field): readonly (readonly [string, Json])[] => {
    const value = valueOf(field, typed[field.name]);
    return value === undefined ? [] : [[field.name, value]];
  });
  return Object.fromEntries(members);
}

function valueOf(field: SchemaField, typed: FieldInputs[string]): Json | undefined {
  if (field.kind === 'flag') return typed === undefined && field.isRequired ? false : typed;
  if (typeof typed !== 'string' || typed.trim() === '') return undefined;
  switch (field.kind) {
    case 'text':
      return typed;
    case 'lines':
      return typed.split('\n').filter((line) => line.trim() !== '');
    case 'choice':
      return field.values[Number(typed)];
    case 'number':
      return Number.isFinite(Number(typed)) ? Number(typed) : typed;
    case 'json':
      return parsed(typed);
    default:
      return field satisfies never;
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** What the server has refused, by the field that it is about; the rest is about the whole input. */
export function issuesByField(
  issues: unknown,
  names: readonly string[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const issue of Array.isArray(issues) ? issues : []) {
    const { pointer = '', message = '' } = issue as { pointer?: string; message?: string };
    const [, , part = '', ...below] = pointer.split('/');
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const key = names.includes(name) ? name : '';
    const text = key !== '' && below.length === 0 ? message : `${pointer} ${message}`;
    found.set(key, [found.get(key), text].filter((each) => each !== undefined).join('; '));
  }
  return found;
}

function membersOf(value: Json | undefined): Members | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Members;
}
