import { z } from 'zod';
import { type Schema, schemaRefPrefix } from './document.ts';

/** The side of a schema to describe: requests or responses. */
type Direction = 'input' | 'output';

export type SchemaWriter = {
  /** Returns the JSON Schema of a zod schema; schemas with an `id` become references. */
  readonly write: (schema: z.ZodType, direction: Direction) => Schema;
  /** Adds a schema to the components under a name. */
  readonly define: (name: string, schema: z.ZodType, direction: Direction) => Schema;
  /** Returns every schema that was referred to so far, by name. */
  readonly components: () => Record<string, Schema>;
};

type Override = {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: z.core.JSONSchema.BaseSchema;
  path: (string | number)[];
};

export function schemaWriter(): SchemaWriter {
  const components = new Map<string, Schema>();

  const write = (schema: z.ZodType, direction: Direction): Schema => {
    const written = z.toJSONSchema(schema, {
      target: 'draft-2020-12',
      io: direction,
      unrepresentable: 'any',
      override: (context) => tidy(context, direction),
    });
    const { $schema: _dialect, $defs = {}, '~standard': _standard, ...root } = written;
    for (const [name, definition] of Object.entries($defs)) keep(name, definition);
    return withComponentRefs(root);
  };

  const keep = (name: string, definition: Schema): void => {
    const { id: _id, ...schema } = withComponentRefs(definition);
    const known = components.get(name);
    // Two schemas with one name would overwrite each other.
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two different schemas are called ${name}`);
    }
    components.set(name, schema);
  };

  return {
    write,
    define: (name, schema, direction) => {
      keep(name, write(schema, direction));
      return { $ref: schemaRefPrefix + name };
    },
    components: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function tidy({ zodSchema, jsonSchema }: Override, direction: Direction): void {
  // Responses may gain fields (spec §9.2); only requests are closed.
  if (direction === 'output' && jsonSchema.additionalProperties === false) {
    delete jsonSchema.additionalProperties;
  }
  // zod omits the default of a transformed value, since it belongs to the output side; ours are the same
  // on both sides.
  if (direction === 'input' && zodSchema._zod.def.type === 'default') {
    jsonSchema.default ??= zodSchema._zod.def.defaultValue;
  }
  // zod bounds every integer by the safe integers, which is no information for a reader.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** Replaces zod's references to `#/$defs/…` by references to the components of the document. */
function withComponentRefs(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', `"${schemaRefPrefix}`);
  return JSON.parse(text) as Schema;
}
