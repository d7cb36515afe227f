import { approversText } from '@convoke/faces';
import { printable } from '@convoke/faces/printable';
import type { InteractionRecord } from '@convoke/sdk';

type AskedInteraction = Pick<InteractionRecord, 'rules' | 'approvers' | 'approvals'>;

/** Why it is asked about, in one line for each rule that says so. */
export function reasonsOf({ rules = [] }: AskedInteraction): readonly string[] {
  return rules.flatMap(({ reason }) => (reason === undefined ? [] : [printable(reason)]));
}

/** Who may allow it, and who of several people has; undefined where every caller may that may answer. */
export function neededFor({ approvers, approvals = [] }: AskedInteraction): string | undefined {
  if (approvers === undefined) return undefined;
  const names = approvals.map(({ by, by_name }) => by_name ?? by).join(', ');
  const soFar =
    approvals.length === 0 ? '' : ` (${approvals.length} of ${approvers.people}: ${names})`;
  return printable(`needs ${approversText(approvers)}${soFar}`);
}
