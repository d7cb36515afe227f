import { type ServerMetadata, operations, scopes } from '@convoke/contract';

/** RFC 8414. */
export function serverMetadata(baseUrl: string): ServerMetadata {
  return {
    issuer: baseUrl,
    token_endpoint: baseUrl + operations.issue_token.path,
    jwks_uri: baseUrl + operations.get_jwks.path,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    scopes_supported: [...scopes],
  };
}
