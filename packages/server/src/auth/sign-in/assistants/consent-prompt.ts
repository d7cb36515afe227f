import type { Client, KoaContextWithOIDC, interactionPolicy } from 'oidc-provider';
import { z } from 'zod';
import { isOwnClient } from '../own-clients.ts';
import { isRegisteredId } from './assistant-clients.ts';

/** The content of the consent page, as it was when the person was asked. */
export const consentDetails = z.object({
  name: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  resource: z.string(),
  scope: z.string(),
});

export type ConsentDetails = z.infer<typeof consentDetails>;

/**
 * Asks the person every time that an assistant signs in (D-622, D-950): nothing that was agreed to for one tenant or
 * one program counts for another, and a program on the person's computer cannot sign in without being seen.
 */
export function consentPrompt({
  Prompt,
  Check,
}: Pick<typeof interactionPolicy, 'Prompt' | 'Check'>): interactionPolicy.Prompt {
  return new Prompt(
    { name: 'consent', requestable: true },
    ({ oidc }: KoaContextWithOIDC) => detailsOf(oidc),
    new Check('assistant', 'the person has to agree', 'consent_required', ({ oidc }) => {
      const isAsked = oidc.client !== undefined && !isOwnClient(oidc.client.clientId);
      return isAsked && oidc.result?.consent === undefined;
    }),
  );
}

function detailsOf({ client, params = {} }: KoaContextWithOIDC['oidc']) {
  if (client === undefined || isOwnClient(client.clientId)) return {};
  const { redirect_uri: redirectUri, resource, scope } = params;
  return { name: nameOf(client), clientId: client.clientId, redirectUri, resource, scope };
}

const nameOf = ({ clientName, clientId }: Client): string => clientName ?? clientId;

/** The host of the document that is the client's id: its only proven name. Undefined where it has registered. */
export function hostOfClient(clientId: string): string | undefined {
  return isRegisteredId(clientId) ? undefined : new URL(clientId).host;
}
