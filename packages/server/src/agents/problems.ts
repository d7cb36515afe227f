import { nearestName } from '@convoke/contract';
import { z } from 'zod';
import { plainIssue } from '../runtime/plain-issue.ts';
import type { AgentProblem } from '../ports/harness.ts';

export type { AgentProblem };

/** Translates zod's issues for the author of the file; for an unknown key it suggests the nearest known one. */
export function problemsOf(error: z.ZodError, schema: z.ZodType): readonly AgentProblem[] {
  return error.issues.flatMap((issue): AgentProblem[] => {
    if (issue.code === 'unrecognized_keys') {
      const known = keysAt(schema, issue.path);
      return issue.keys.map((key) => ({
        path: [...issue.path, key],
        message: unknownKey(key, known),
      }));
    }
    if (issue.code === 'invalid_key') {
      return [{ path: issue.path, message: 'is not a valid name here' }];
    }
    return [{ path: issue.path, message: plainIssue(issue.message) }];
  });
}

export function unknownKey(key: string, known: readonly string[]): string {
  const suggestion = nearestName(key, known);
  return suggestion === undefined
    ? `is an unknown key; the known keys are ${known.join(', ')}`
    : `is an unknown key; did you mean "${suggestion}"?`;
}

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const [step, ...rest] = path;
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional
  ) {
    const inner = schema.unwrap();
    return inner instanceof z.ZodType ? keysAt(inner, path) : [];
  }
  if (schema instanceof z.ZodArray) {
    const { element } = schema;
    return element instanceof z.ZodType ? keysAt(element, rest) : [];
  }
  if (!(schema instanceof z.ZodObject)) return [];
  if (step === undefined) return Object.keys(schema.shape);
  const member: unknown = schema.shape[String(step)];
  return member instanceof z.ZodType ? keysAt(member, rest) : [];
}
