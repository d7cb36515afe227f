import { ConvokeError } from '@convoke/sdk';
import { baseUrl } from './code-flow.ts';

/** An invitation as its link shows it before it is accepted. */
export interface Offer {
  readonly organization_name: string;
  readonly role: string;
  readonly email?: string | undefined;
  readonly expires_at: string;
}

/** A person without an account calls these, so they are no methods of the SDK. */
export function readInvitation(secret: string): Promise<Offer> {
  return post('read', { secret });
}

export function signUp(request: {
  readonly secret: string;
  readonly email: string;
  readonly password: string;
  readonly name?: string | undefined;
}): Promise<{ readonly ticket: string }> {
  return post('sign-up', request);
}

/** Signs this browser in with the ticket of the new account. Where it is refused, the sign-in page appears as usual. */
export async function signInWith(ticket: string): Promise<void> {
  await fetch(`${baseUrl()}/oidc/joined`, {
    method: 'POST',
    body: new URLSearchParams({ ticket }),
  });
}

/** The secret is in the body, never in the address. */
async function post<T>(verb: 'read' | 'sign-up', body: object): Promise<T> {
  const response = await fetch(`${baseUrl()}/v1/invitations/${verb}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  if (response.ok) return answer as T;
  const { error: code = 'internal', message = '' } = answer as Refusal;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  throw new ConvokeError(message, { code, status: response.status, requestId });
}

interface Refusal {
  readonly error?: string;
  readonly message?: string;
}
