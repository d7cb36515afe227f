import { Misuse } from '../failures.ts';
import type { StartMessage } from '../lines.ts';
import { digestOf } from '../names.ts';
import type { Steps } from '../steps.ts';
import { checkSignalName } from './waits.ts';

const proofCharacters = 32;

/**
 * A URL at which anyone who has it can send the run one message (D-910). It is computed from the key of the run and the
 * place of the call in the program, so every leg makes the same one and nothing has to be stored.
 */
export function callbackUrl(
  steps: Steps,
  { callbacks }: Pick<StartMessage, 'callbacks'>,
  name: string,
): string {
  checkSignalName(name);
  const ref = steps.refOf('callbackUrl', `callback ${name}`);
  if (callbacks === undefined) {
    throw new Misuse('ctx.callbackUrl(): this server has no callback URLs. Update it first.');
  }
  const { createHmac } = process.getBuiltinModule('node:crypto');
  const proven = `${name}.${digestOf(ref)}`;
  const mac = createHmac('sha256', Buffer.from(callbacks.key, 'base64url')).update(proven);
  return `${callbacks.url}.${proven}.${mac.digest('base64url').slice(0, proofCharacters)}`;
}
