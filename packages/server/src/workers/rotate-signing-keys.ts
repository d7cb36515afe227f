import type { Services } from '../app/services.ts';
import { rotateKeys } from '../auth/key-rotation.ts';
import type { SigningKeys } from '../auth/keys.ts';
import type { Actor } from '../domain/audit.ts';

/** A key must not sign for longer than this: the more it signed, the more its loss costs. */
const rotateAfterMs = 30 * 24 * 3600 * 1000;
const schedule: Actor = { kind: 'system', id: 'schedule', requestId: null, address: null };

/** Publishes a new signing key once the newest is old. Two servers that do so together make two keys: harmless. */
export async function rotateSigningKeys(
  parts: Pick<Services, 'store' | 'clock'> & { readonly keys: SigningKeys },
): Promise<boolean> {
  const made = (await parts.store.read.signingKeys.list()).map(({ createdAt }) => createdAt);
  const isOld = parts.clock.now() - Math.max(...made) >= rotateAfterMs;
  if (isOld) await rotateKeys(parts, schedule);
  return false;
}
