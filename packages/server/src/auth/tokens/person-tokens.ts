import type { UserId } from '@convoke/contract';
import { recordForPerson } from '../../app/audit.ts';
import { refuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import type { Actor } from '../../domain/audit.ts';
import { type IssuedToken, type Tokens, humanTokenMaxSeconds } from './tokens.ts';

export interface PersonTokenRequest {
  readonly userId: UserId;
  readonly lifetimeSeconds: number;
  readonly by: Actor;
}

/**
 * Issues a token for a person, on the server's machine. Refuses a lifetime above the bound instead of shortening it.
 * Returns it only after its audit row is durable.
 */
export async function issuePersonToken(
  { store, clock, tokens }: Pick<Services, 'store' | 'clock'> & { readonly tokens: Tokens },
  { userId, lifetimeSeconds, by }: PersonTokenRequest,
): Promise<IssuedToken> {
  if (lifetimeSeconds > humanTokenMaxSeconds) {
    const days = humanTokenMaxSeconds / (24 * 3600);
    refuse('invalid_body', {
      message: `A token is valid for at most ${days} days; ${lifetimeSeconds} seconds were requested.`,
    });
  }
  const issued = await tokens.issueForPerson(userId, lifetimeSeconds);
  await store.transaction((tx) =>
    recordForPerson(tx, userId, {
      at: clock.now(),
      by,
      action: 'token.issue',
      object: issued.id,
      details: { user_id: userId, expires_at: issued.expiresAt },
    }),
  );
  return issued;
}
