import { type Json, canonicalJson } from '../json.ts';

/** A person's allow of one execution. */
export interface Allow {
  /** Of the request. */
  readonly ref: string;
  readonly toolName: string;
  /** As it was approved. */
  readonly input: Json;
  /** The call that has used it. */
  readonly spentOn?: string;
}

/**
 * D-519: the allow that a call may use: of exactly this tool and input, and used by no other call. That of its own
 * request comes first; a framework may also have asked under another ref than it calls (D-176).
 */
export function allowFor<Found extends Allow>(
  call: { readonly ref: string; readonly toolName: string; readonly input: Json },
  allows: readonly Found[],
): Found | undefined {
  const wanted = canonicalJson(call.input);
  const fitting = allows.filter(
    ({ toolName, input, spentOn = call.ref }) =>
      spentOn === call.ref && toolName === call.toolName && canonicalJson(input) === wanted,
  );
  return fitting.find(({ ref }) => ref === call.ref) ?? fitting[0];
}
