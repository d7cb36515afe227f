import type { Json, JsonObject } from '../json.ts';

/** One place at which a value does not fit a schema. */
export interface Issue {
  /** JSON pointer (RFC 6901) into the value. */
  readonly pointer: string;
  readonly message: string;
}

/** A JSON Schema that an agent declares, with its check. No library is named here (D-561). */
export interface ValueSchema {
  /** As clients see it. */
  readonly schema: JsonObject;
  /** Empty if the value fits. */
  readonly check: (value: Json) => readonly Issue[];
}
