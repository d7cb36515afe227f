import {
  type OpenApiDocument,
  type Schema,
  schemaRefPrefix,
  type Html,
  html,
  joinHtml,
} from '@convoke/contract';

/** Renders the type of a field, with a link if the type has a section of its own. */
export function typeText(schema: Schema): Html {
  const name = refName(schema);
  if (name !== undefined) return html`<a href="#schema-${name}">${name}</a>`;
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants) return joinHtml(variants.map(typeText), ' or ');
  if (schema.type === 'array') return arrayText(schema);
  if (schema.type === 'object' && schema.properties) return objectText(schema);
  if (schema.format === 'date-time') return html`time`;
  if (schema.format === 'binary') return html`bytes`;
  return html`${typeof schema.type === 'string' ? schema.type : 'any JSON'}`;
}

/** Renders the rules of a field beyond its type: allowed values, bounds, default. */
export function rulesText(schema: Schema): Html[] {
  const rules: Html[] = [];
  const values = enumOf(schema);
  if (values)
    rules.push(
      joinHtml(
        values.map((value) => html`<code>${value}</code>`),
        ' ',
      ),
    );
  if (schema.const !== undefined) rules.push(html`always <code>${literal(schema.const)}</code>`);
  const bounds = boundsText(schema);
  if (bounds !== undefined) rules.push(html`${bounds}`);
  if (schema.default !== undefined) {
    rules.push(html`default <code>${literal(schema.default)}</code>`);
  }
  return rules;
}

export function refName(schema: Schema): string | undefined {
  return schema.$ref?.startsWith(schemaRefPrefix)
    ? schema.$ref.slice(schemaRefPrefix.length)
    : undefined;
}

export function resolve(document: OpenApiDocument, schema: Schema): Schema {
  const name = refName(schema);
  return (name === undefined ? undefined : document.components.schemas[name]) ?? schema;
}

/** Returns the fields of an object schema. */
export function fieldsOf(schema: Schema): [string, Schema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    typeof field === 'boolean' ? [] : [[name, field]],
  );
}

export function itemsOf(schema: Schema): Schema | undefined {
  const { items } = schema;
  return typeof items === 'object' && !Array.isArray(items) ? items : undefined;
}

function arrayText(schema: Schema): Html {
  const items = itemsOf(schema);
  if (!items) return html`array`;
  return enumOf(items) || items.type === 'object'
    ? html`array of ${typeText(items)}`
    : html`${typeText(items)}[]`;
}

function objectText(schema: Schema): Html {
  const required = schema.required ?? [];
  const fields = fieldsOf(schema).map(
    ([name, field]) => html`${name}${required.includes(name) ? '' : '?'}: ${typeText(field)}`,
  );
  return fields.length === 0 ? html`{}` : html`{ ${joinHtml(fields, ', ')} }`;
}

function enumOf(schema: Schema): string[] | undefined {
  const values = schema.enum ?? itemsOf(schema)?.enum;
  return values?.map(String);
}

function literal(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function boundsText(schema: Schema): string | undefined {
  if (schema.type === 'integer') return range(schema.minimum, schema.maximum, '');
  if (schema.type === 'string') return range(schema.minLength, schema.maxLength, ' characters');
  if (schema.type === 'array') return range(schema.minItems, schema.maxItems, ' items');
  return undefined;
}

function range(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  const number = (value: number) => value.toLocaleString('en-US');
  if (max !== undefined) {
    return min === undefined
      ? `at most ${number(max)}${unit}`
      : `${number(min)} to ${number(max)}${unit}`;
  }
  if (min === undefined || min === 0) return undefined;
  return `at least ${number(min)}${min === 1 ? unit.replace(/s$/, '') : unit}`;
}
