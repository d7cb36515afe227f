import { type Json, type JsonObject, isObject } from '../domain/json.ts';

/** How the schema of an output is put to a model, which can give an object only. */
export interface AskedOutput {
  readonly schema: JsonObject;
  /** The output in the model's result. */
  valueIn(given: Json): Json | undefined;
}

/** The schema itself where it describes an object; else that of an object with the output as its member `value`. */
export function askedOutput(schema: JsonObject): AskedOutput {
  if (schema['type'] === 'object') return { schema, valueIn: (given) => given };
  const { $defs, $schema: _, ...value } = schema;
  const properties = { value };
  return {
    schema: {
      type: 'object',
      properties,
      required: ['value'],
      additionalProperties: false,
      // References name definitions at the root (D-560).
      ...($defs !== undefined && { $defs }),
    },
    valueIn: (given) => (isObject(given) ? given['value'] : undefined),
  };
}
