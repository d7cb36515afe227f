import { operations } from '@convoke/contract';
import type { Provider } from 'oidc-provider';
import { peopleRoutes } from './provider-settings.ts';

const hinted: ReadonlySet<string> = new Set(['invalid_client', 'unsupported_grant_type']);

/**
 * Names the API's token endpoint where the one of people refuses a client (D-800). Two documents have the same issuer,
 * and a library that reads OpenID Connect discovery sends the secret of a client of the API here.
 */
export function nameTokenEndpoint(provider: Provider, baseUrl: string): void {
  const endpoint = `${baseUrl}${operations.issue_token.path}`;
  provider.use(async (context, next) => {
    await next();
    const body: unknown = context.body;
    if (context.path !== peopleRoutes.token || !isRefusal(body) || !hinted.has(body.error)) return;
    const { error, error_description: said = error } = body;
    const description = `${said}. Clients of the API get their tokens at ${endpoint}`;
    context.body = { ...body, error_description: description };
  });
}

interface TokenRefusal {
  readonly error: string;
  readonly error_description?: string;
}

function isRefusal(body: unknown): body is TokenRefusal {
  return typeof body === 'object' && body !== null && 'error' in body;
}
