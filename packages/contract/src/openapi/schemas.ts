import { z } from 'zod';
import { type Schema, schemaRefPrefix } from './document.ts';

/** Which side of a schema is described: what may be sent, or what is answered. */
type Direction = 'input' | 'output';

export type SchemaWriter = {
  /** The JSON Schema of a zod schema; what has an `id` is referred to, not repeated. */
  readonly write: (schema: z.ZodType, direction: Direction) => Schema;
  /** Writes a schema under a name of its own. */
  readonly define: (name: string, schema: z.ZodType, direction: Direction) => Schema;
  /** Everything referred to so far, by name. */
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
    // One name must mean one thing, or the document would describe only the last of them.
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
  // Answers may grow fields (spec §9.2); only requests are closed.
  if (direction === 'output' && jsonSchema.additionalProperties === false) {
    delete jsonSchema.additionalProperties;
  }
  // zod leaves the default of a transformed value out, since it belongs to the other side; ours read
  // the same on both.
  if (direction === 'input' && zodSchema._zod.def.type === 'default') {
    jsonSchema.default ??= zodSchema._zod.def.defaultValue;
  }
  // zod bounds every integer by what a double holds exactly, which tells a reader nothing.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** zod refers to `#/$defs/…`; in the document the same schemas live among the components. */
function withComponentRefs(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', `"${schemaRefPrefix}`);
  return JSON.parse(text) as Schema;
}
