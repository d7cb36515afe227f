import type { ExecutionServices } from '../execution/services.ts';

/** Sessions read in one statement. */
const perPass = 100;

/** Makes each harness drop what it keeps warm for sessions that were stopped, have ended or are gone. */
export async function releaseSessions({
  store,
  harnesses,
}: Pick<ExecutionServices, 'store' | 'harnesses'>): Promise<boolean> {
  for (const harness of harnesses.values()) {
    const kept = harness.kept?.().slice(0, perPass) ?? [];
    if (kept.length === 0) continue;
    const usable = new Set(await store.read.sessions.usable(kept));
    const unusable = kept.filter((id) => !usable.has(id));
    await Promise.all(unusable.map(async (id) => harness.release?.(id)));
  }
  return false;
}
