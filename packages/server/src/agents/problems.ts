import { z } from 'zod';
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
    return [{ path: issue.path, message: plain(issue.message) }];
  });
}

export function unknownKey(key: string, known: readonly string[]): string {
  const suggestion = nearest(key, known);
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
  if (!(schema instanceof z.ZodObject)) return [];
  if (step === undefined) return Object.keys(schema.shape);
  const member: unknown = schema.shape[String(step)];
  return member instanceof z.ZodType ? keysAt(member, rest) : [];
}

function nearest(key: string, known: readonly string[]): string | undefined {
  const word = key.toLowerCase().replaceAll('-', '_').slice(0, 64);
  const longer = known.find((candidate) => word.length > 2 && candidate.startsWith(word));
  if (longer !== undefined) return longer;
  const farthest = Math.max(1, Math.min(3, Math.floor(word.length / 2)));
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= farthest ? best.candidate : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function plain(message: string): string {
  return message.replace(/^Invalid (input|option): /, '').replace(/^Too (small|big): /, '');
}
