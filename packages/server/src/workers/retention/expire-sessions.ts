import { recordSession } from '../../app/record.ts';
import type { Services } from '../../app/services.ts';
import { expireSession, isUnused } from '../../domain/session.ts';

const perPass = 100;

/** D-17: expires sessions that have not been used for the idle time of the settings. */
export async function expireSessions(
  services: Pick<Services, 'store' | 'clock' | 'settings' | 'fanout'>,
): Promise<boolean> {
  const { store, clock, settings } = services;
  if (settings.sessionIdleTtlMs === 0) return false;
  const before = clock.now() - settings.sessionIdleTtlMs;
  const unused = await store.read.sessions.unusedSince(before, perPass);
  for (const session of unused) {
    await store.transaction(async (tx) => {
      const seen = await tx.sessions.lock(session, session.id);
      if (seen === undefined || !isUnused(seen, before)) return;
      const next = expireSession(seen, settings.sessionIdleTtlMs);
      recordSession(services, tx, { seen, next });
    });
  }
  return unused.length === perPass;
}
