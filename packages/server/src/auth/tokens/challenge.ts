import type { ErrorCode } from '@convoke/contract';
import { Refusal, type RefusalOptions } from '../../app/refusal.ts';

/** A refusal that says how to authenticate, in `WWW-Authenticate` (RFC 9110 section 11.6.1). */
export class Challenge extends Refusal {
  readonly challenge: string;

  constructor(
    code: ErrorCode,
    { challenge, ...options }: RefusalOptions & Pick<Challenge, 'challenge'>,
  ) {
    super(code, options);
    this.challenge = challenge;
  }
}
