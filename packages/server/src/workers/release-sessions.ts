import type { ExecutionServices } from '../execution/services.ts';
import type { Pass } from './driver.ts';

/** Sessions looked at in one statement. */
const perPass = 100;

/** Lets go of what frameworks keep warm for sessions that were stopped, have ended or are gone. */
export function releasePasses(
  services: Pick<ExecutionServices, 'store' | 'harnesses'>,
): Record<string, Pass> {
  return { 'releasing sessions': () => releaseSessions(services) };
}

async function releaseSessions({
  store,
  harnesses,
}: Pick<ExecutionServices, 'store' | 'harnesses'>): Promise<boolean> {
  for (const harness of harnesses.values()) {
    const kept = harness.kept?.().slice(0, perPass) ?? [];
    if (kept.length === 0) continue;
    const usable = new Set(await store.read.sessions.usable(kept));
    const left = kept.filter((id) => !usable.has(id));
    await Promise.all(left.map(async (id) => harness.release?.(id)));
  }
  return false;
}
