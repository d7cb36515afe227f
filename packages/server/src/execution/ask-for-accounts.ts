import {
  canAskFor,
  isDeclined,
  questionAboutAccount,
} from '../domain/connections/asked-account.ts';
import { missingText } from '../domain/connections/declared.ts';
import type { UnexecutedLeg } from '../domain/interaction.ts';
import type { LegInput } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import type { MissingAccount } from './leg-connections.ts';
import type { ExecutionServices } from './services.ts';

type Asked =
  | { readonly asks: readonly ReturnType<typeof questionAboutAccount>[] }
  | { readonly refusal: string };

/**
 * D-607: asks for all accounts of the end user that the leg misses, in place of the leg. Refuses where one of them cannot be
 * asked for, or its end user has declined.
 */
export async function askForAccounts(
  { store, settings }: Pick<ExecutionServices, 'store' | 'settings'>,
  { run, session, input }: Pick<ClaimedLeg, 'run' | 'session' | 'input'>,
  missing: readonly MissingAccount[],
): Promise<Asked> {
  const { connectUrl } = settings;
  const answered = await store.read.interactions.answered(run.id);
  const isHopeless = ({ declared, kind }: MissingAccount) =>
    kind === 'unavailable' ||
    !canAskFor(declared, session, settings) ||
    isDeclined(answered, declared.service);
  const hopeless = missing.find(isHopeless);
  if (hopeless !== undefined) return { refusal: missingText(hopeless.declared) };
  const asking = { sessionId: run.sessionId, leg: unexecuted(input), epoch: run.leaseEpoch };
  return {
    asks: missing.map(({ declared: { service } }) =>
      questionAboutAccount({ ...asking, service, connectUrl: connectUrl ?? '' }),
    ),
  };
}

function unexecuted(input: LegInput): UnexecutedLeg {
  switch (input.kind) {
    case 'prompt':
      return { kind: 'prompt' };
    case 'resume':
      return { kind: 'resume', refs: Array.from(input.answers.keys()) };
    case 'continue':
      return { kind: 'continue', reason: input.reason };
    default:
      return input satisfies never;
  }
}
