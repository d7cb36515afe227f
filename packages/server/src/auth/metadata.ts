import { type ServerMetadata, operations, scopes } from '@convoke/contract';
import { tokenExchangeGrant } from './tokens/token-exchange.ts';

/** RFC 8414. The console exchanges tokens without a secret, where there is one. */
export function serverMetadata(baseUrl: string, hasConsole: boolean): ServerMetadata {
  return {
    issuer: baseUrl,
    token_endpoint: baseUrl + operations.issue_token.path,
    jwks_uri: baseUrl + operations.get_jwks.path,
    grant_types_supported: ['client_credentials', ...(hasConsole ? [tokenExchangeGrant] : [])],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      ...(hasConsole ? ['none'] : []),
    ],
    scopes_supported: [...scopes],
  };
}
