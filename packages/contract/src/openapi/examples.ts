import { type Schema, schemaRefPrefix } from './document.ts';

type Components = Readonly<Record<string, Schema>>;

/** Returns a value that matches the schema: its first example, or the smallest value with the required fields. */
export function exampleOf(schema: Schema, components: Components): unknown {
  const target = resolve(schema, components);
  const [example] = target.examples ?? [];
  if (example !== undefined) return example;
  if (target.const !== undefined) return target.const;
  if (target.default !== undefined) return target.default;
  if (target.enum) return target.enum[0];
  const [variant] = target.oneOf ?? target.anyOf ?? [];
  if (variant) return exampleOf(variant, components);
  return exampleOfType(target, components);
}

function exampleOfType(schema: Schema, components: Components): unknown {
  if (schema.type === 'object') return exampleObject(schema, components);
  if (schema.type === 'array') {
    const { items } = schema;
    return typeof items === 'object' && !Array.isArray(items) ? [exampleOf(items, components)] : [];
  }
  if (schema.type === 'integer') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  return '…';
}

function exampleObject(schema: Schema, components: Components): Record<string, unknown> {
  const fields = (schema.required ?? []).flatMap((name) => {
    const field = schema.properties?.[name];
    return typeof field === 'object' ? [[name, exampleOf(field, components)] as const] : [];
  });
  return Object.fromEntries(fields);
}

function resolve(schema: Schema, components: Components): Schema {
  const name = schema.$ref?.startsWith(schemaRefPrefix)
    ? schema.$ref.slice(schemaRefPrefix.length)
    : undefined;
  return (name === undefined ? undefined : components[name]) ?? schema;
}
