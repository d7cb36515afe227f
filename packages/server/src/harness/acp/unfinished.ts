import type { LegInput } from '../../ports/harness.ts';
import type { ToldAction, Unfinished } from '../continue-prompt.ts';
import {
  type SettledRequests,
  answeredQuestions,
  decidedActions,
  fateOf,
  nothingSettled,
} from '../parked-requests.ts';
import type { Progress, ReportedCall } from './state.ts';

export function settledBy(input: LegInput): SettledRequests {
  return input.kind === 'continue' ? input : nothingSettled;
}

/** The state of the calls for the agent: its own reports, corrected by the ledger and by the decisions of people. */
export function unfinishedOf(task: string, before: Progress, settled: SettledRequests): Unfinished {
  const { calls, asked, said } = before;
  const isDecided = ({ ref }: ReportedCall) => asked.some((parked) => parked.ref === ref);
  const reported = calls.flatMap((call): ToldAction[] => {
    const { ref, title, status } = call;
    const known = settled.calls.get(ref ?? '');
    if (known !== undefined) return [fateOf(title, known)];
    if (isDecided(call)) return [];
    // A call that asked for permission and is not in the ledger never began.
    const isUnbegun = ref !== undefined && status === 'unknown';
    return [{ title, fate: isUnbegun ? 'not done' : status }];
  });
  return {
    task,
    actions: [...reported, ...decidedActions(asked, settled)],
    answers: answeredQuestions(asked, settled),
    said,
  };
}
