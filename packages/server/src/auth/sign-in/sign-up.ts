import {
  type AcceptedInvitation,
  type InvitationServices,
  readInvitation,
  signUp,
} from '../../app/people/invitations.ts';
import { orRefuse, refuse } from '../../app/refusal.ts';
import { readEmail, readPersonName } from '../../domain/member.ts';
import { readPassword } from '../../domain/people/password.ts';
import type { RateLimit } from '../../ports/rate-limit.ts';
import { networkOf } from '../../runtime/network-of.ts';
import type { PasswordTurns } from '../password-turns.ts';
import type { Passwords } from '../passwords.ts';
import { newJoinTicket } from './join-ticket.ts';

/** Creates the account of a person who has an invitation. */
export interface SignUp {
  join(request: SignUpRequest): Promise<SignedUp>;
}

export interface SignedUp {
  readonly accepted: AcceptedInvitation;
  /** Signs this browser in once (D-790). */
  readonly ticket: string;
}

export interface SignUpRequest {
  readonly secret: string;
  readonly email: string;
  readonly password: string;
  readonly name?: string | undefined;
  readonly requestId: string;
  readonly address: string;
}

export interface SignUpParts extends InvitationServices {
  readonly passwords: Passwords;
  readonly turns: PasswordTurns;
  /** Attempts from one network: sign-ins count here, too. */
  readonly perNetwork: RateLimit;
}

/** How long a caller waits when too many others wait for a turn. */
const noTurnRetrySeconds = 2;

export function createSignUp(parts: SignUpParts): SignUp {
  const { passwords, turns, perNetwork } = parts;
  return {
    async join({ secret, email, password, name, requestId, address }) {
      const network = networkOf(address);
      const { ok, retryAfterSeconds } = perNetwork.take(network);
      if (!ok) return refuse('rate_limited', { retryAfterSeconds });
      // Before the password is hashed: only a person with an invitation can make the server do that work.
      await readInvitation(parts, secret);
      orRefuse(readEmail(email));
      orRefuse(readPersonName(name ?? ''));
      const text = orRefuse(readPassword(password));
      const passwordHash = await turns.take(network, () => passwords.hash(text));
      if (passwordHash === undefined) {
        return refuse('rate_limited', { retryAfterSeconds: noTurnRetrySeconds });
      }
      const ticket = newJoinTicket();
      const from = { requestId, address };
      const accepted = await signUp(parts, { secret, email, name, passwordHash, ticket, from });
      return { accepted, ticket };
    },
  };
}
