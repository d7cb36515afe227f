import type { KnownCall } from '../../src/domain/run/tool-call.ts';
import type { Effects, NewCall } from '../../src/ports/harness.ts';

/** A ledger that lets every call begin, for tests that do not care about it. */
export const openEffects: Effects = {
  begin: () => Promise.resolve(true),
  end: () => Promise.resolve(),
  key: (ref) => `run_1.${ref}`,
};

export interface RecordedEffects {
  readonly effects: Effects;
  /** The calls that have ended, as a leg that continues gets them. */
  readonly calls: ReadonlyMap<string, KnownCall>;
}

/** A ledger in memory: a call begins once. */
export function recordingEffects(): RecordedEffects {
  const begun = new Map<string, NewCall>();
  const calls = new Map<string, KnownCall>();
  const effects: Effects = {
    ...openEffects,
    async begin(call) {
      if (begun.has(call.ref)) return false;
      begun.set(call.ref, call);
      return true;
    },
    async end(ref, result) {
      const { toolName = '', input = {} } = begun.get(ref) ?? {};
      calls.set(ref, { toolName, input, state: 'ended', ...result });
    },
  };
  return { effects, calls };
}
