import { approversText } from '@convoke/faces';
import type { Ask } from '../ask.ts';

/** Who may allow a request, in words that follow "Needs". */
export function whoMayAllow({ approvers }: Pick<Ask, 'approvers'>): string {
  return approvers === undefined ? 'another person' : approversText(approvers);
}
