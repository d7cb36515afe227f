import type { JsonObject } from '@convoke/contract';
import { type AskItem, connectLinkOf, formOf } from '@convoke/faces';
import type { AskingMeans } from './capabilities.ts';

/** Parameters of `elicitation/create`; undefined where the client cannot show all that its user would decide on. */
export function elicitationOf(
  ask: AskItem,
  said: string,
  { means, link }: { readonly means: AskingMeans; readonly link: string | undefined },
): JsonObject | undefined {
  // An account is connected by its user, and no form answers for that: the run continues when it is connected.
  const connectLink = connectLinkOf(ask);
  if (means.urls && connectLink !== undefined) {
    return { mode: 'url', elicitationId: ask.key, ...connectLink };
  }
  const form = means.forms ? formOf(ask, said) : undefined;
  if (form !== undefined) return { mode: 'form', ...form };
  if (!means.urls || link === undefined) return undefined;
  const message = 'The agent waits for a decision. Open its run to see what it asks.';
  return { mode: 'url', elicitationId: ask.key, url: link, message };
}
