import {
  type ResourceMetadata,
  type ServerMetadata,
  mcpScopes,
  operations,
  scopes,
} from '@convoke/contract';
import type { Selectors } from './selectors.ts';
import { mcpResource } from './sign-in/assistants/mcp-resource.ts';
import { redeemedGrants } from './sign-in/assistants/redeeming.ts';
import { peopleRoutes, registrationPath } from './sign-in/provider-settings.ts';
import { tokenExchangeGrant } from './tokens/token-exchange.ts';

/** What a server offers beside tokens for clients. */
export interface OfferedSignIn {
  readonly baseUrl: string;
  readonly hasConsole: boolean;
  /** Whether people sign in here, and not with another issuer. */
  readonly hasSignIn: boolean;
  /** Whether assistants may register. */
  readonly hasRegistration: boolean;
}

/**
 * RFC 8414: one document for clients with a secret, the console, which exchanges tokens, and assistants, which people
 * let in (D-620). The last two have no secret.
 */
export function serverMetadata(offered: OfferedSignIn): ServerMetadata {
  const { baseUrl, hasConsole, hasSignIn, hasRegistration } = offered;
  return {
    issuer: baseUrl,
    token_endpoint: baseUrl + operations.issue_token.path,
    jwks_uri: baseUrl + operations.get_jwks.path,
    ...(hasSignIn && {
      authorization_endpoint: baseUrl + peopleRoutes.authorization,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    }),
    ...(hasSignIn && hasRegistration && { registration_endpoint: baseUrl + registrationPath }),
    grant_types_supported: [
      'client_credentials',
      ...(hasConsole ? [tokenExchangeGrant] : []),
      ...(hasSignIn ? redeemedGrants : []),
    ],
    response_types_supported: hasSignIn ? ['code'] : [],
    token_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      ...(hasConsole || hasSignIn ? ['none'] : []),
    ],
    scopes_supported: [...scopes],
  };
}

/** RFC 9728. */
export function resourceMetadata(
  { baseUrl, hasSignIn }: OfferedSignIn,
  tenant: Selectors,
): ResourceMetadata {
  return {
    resource: mcpResource(baseUrl, tenant),
    ...(hasSignIn && { authorization_servers: [baseUrl] }),
    scopes_supported: [...mcpScopes],
    bearer_methods_supported: ['header'],
    resource_name: 'Convoke',
  };
}
