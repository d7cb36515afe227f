import { z } from 'zod';
import { type Json, type JsonObject, isObject } from '../domain/json.ts';

/**
 * Schemas for the members of a message that may be any JSON. They look at the outermost value only: it comes from a
 * JSON parser, so a walk over all of it would find nothing, and costs thirty times as much as the parser did.
 */
export const parsedJson = z.custom<Json>((value) => value !== undefined, {
  error: 'must be given',
});

export const parsedObject = z.custom<JsonObject>((value) => isObject(value as Json | undefined), {
  error: 'must be an object',
});
