import {
  connectPageFor,
  isDeclined,
  questionAboutAccount,
} from '../domain/connections/asked-account.ts';
import { missingText } from '../domain/connections/declared.ts';
import type { UnexecutedLeg } from '../domain/interaction.ts';
import type { LegInput } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import type { MissingAccount } from './leg-connections.ts';
import type { ExecutionServices } from './services.ts';

type AccountQuestions =
  | { readonly asks: readonly ReturnType<typeof questionAboutAccount>[] }
  | { readonly refusal: string };

/**
 * D-607: asks for all accounts of the end user that the leg misses, in place of the leg. Refuses where one of them
 * cannot be asked for, or its end user has declined.
 */
export async function askForAccounts(
  { store, settings }: Pick<ExecutionServices, 'store' | 'settings'>,
  { run, session, input }: Pick<ClaimedLeg, 'run' | 'session' | 'input'>,
  missing: readonly MissingAccount[],
): Promise<AccountQuestions> {
  const answered = await store.read.interactions.answered(run.id);
  const asking = { session, leg: unexecuted(input), epoch: run.leaseEpoch };
  const asks: ReturnType<typeof questionAboutAccount>[] = [];
  for (const { declared, kind } of missing) {
    const { service } = declared;
    const page = connectPageFor(declared, session, settings);
    if (page === undefined || kind === 'unavailable' || isDeclined(answered, service)) {
      return { refusal: missingText(declared) };
    }
    asks.push(questionAboutAccount({ ...asking, service, page }));
  }
  return { asks };
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
