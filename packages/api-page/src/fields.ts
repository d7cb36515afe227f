import {
  type OpenApiDocument,
  type Parameter,
  type Schema,
  schemaRefPrefix,
  type Html,
  html,
  joinHtml,
} from '@convoke/contract';
import { nothing, prose } from './prose.ts';
import { fieldsOf, itemsOf, refName, resolve, rulesText, typeText } from './schema-text.ts';

export type FieldRow = {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly depth: number;
};

/** Renders one row per field; the fields of nested anonymous objects follow, indented. */
export function fieldTable(document: OpenApiDocument, schema: Schema): Html {
  const rows = fieldRows(document, schema);
  if (rows.length === 0) return html`<p class="quiet">An empty object.</p>`;
  return table(rows.map((row) => fieldRow(row)));
}

/** One row per field; the fields of nested anonymous objects follow theirs. */
export function fieldRows(document: OpenApiDocument, schema: Schema): FieldRow[] {
  return rowsOf(withFields(document, schema), 0);
}

/** Every event has the fields of the open alternative; only `data` differs. */
function withFields(document: OpenApiDocument, schema: Schema): Schema {
  const name = refName(schema);
  return resolve(document, name === 'RunEvent' ? eventEnvelope : schema);
}

const eventEnvelope: Schema = { $ref: `${schemaRefPrefix}OtherRunEvent` };

export function parameterTable(parameters: readonly Parameter[]): Html {
  return table(parameterRows(parameters).map((row) => fieldRow(row)));
}

export function parameterRows(parameters: readonly Parameter[]): FieldRow[] {
  return parameters.map(({ name, required, schema, description }) => ({
    name,
    required,
    schema: description === undefined ? schema : { ...schema, description },
    depth: 0,
  }));
}

function table(rows: readonly Html[]): Html {
  return html`<div class="scroll"><table class="fields"><tbody>${rows}</tbody></table></div>`;
}

function fieldRow({ name, required, schema, depth }: FieldRow): Html {
  const rules = rulesText(schema);
  const notes = [
    ...(schema.description === undefined ? [] : [prose(schema.description)]),
    ...(rules.length > 0 ? [html`<span class="rules">${joinHtml(rules, '<i>·</i>')}</span>`] : []),
  ];
  // The outermost rows, by far the most, need no class.
  const indent = depth === 0 ? nothing : html` class="depth-${depth}"`;
  const optional = required ? nothing : html`<span class="optional">optional</span>`;
  const head = html`<th scope="row"${indent}><code>${name}</code>${optional}</th>`;
  const about = joinHtml(notes.map((note) => html`<div>${note}</div>`));
  // Without line breaks: the page of resources has six hundred rows.
  return html`<tr>${head}<td><span class="type">${fieldType(schema)}</span>${about}</td></tr>`;
}

export function fieldType(schema: Schema): Html {
  return typeText(withoutFields(schema));
}

/** Removes the fields of a nested object, which get rows of their own. */
function withoutFields(schema: Schema): Schema {
  if (schema.type === 'object') return { type: 'object' };
  const items = itemsOf(schema);
  if (schema.type !== 'array' || items?.type !== 'object') return schema;
  return { type: 'array', items: { type: 'object' } };
}

function rowsOf(schema: Schema, depth: number): FieldRow[] {
  const required = schema.required ?? [];
  return fieldsOf(schema).flatMap(([name, field]) => {
    const row = { name, required: required.includes(name), schema: field, depth };
    const nested = field.type === 'array' ? itemsOf(field) : field;
    if (!nested || refName(nested) !== undefined || depth > 2) return [row];
    return [row, ...rowsOf(nested, depth + 1)];
  });
}
