import type { RunSummary } from '@convoke/sdk';
import { waitName } from './waits.ts';

export { type CallNode, callTree, nameWithCaller } from '@convoke/faces';

/** What a called run needs a person for, if it does: nothing else lets it continue. */
export function neededIn({ status, waiting_on: waits = [] }: RunSummary): string | undefined {
  if (status !== 'waiting') return undefined;
  const [request] = waits.filter(({ kind }) => kind === 'interaction');
  return request === undefined ? 'needs a person' : `needs a person: ${request.name}`;
}

/** What it waits for beside people: `Timer nap, Message paid`. */
export function otherWaitsIn({ waiting_on: waits = [] }: RunSummary): string {
  return waits
    .filter(({ kind }) => kind !== 'interaction')
    .map(waitName)
    .join(', ');
}
