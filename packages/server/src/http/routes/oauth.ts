import { Refusal } from '../../app/refusal.ts';
import { type SigningKeys, jwksMaxAgeMs } from '../../auth/keys.ts';
import { type OfferedSignIn, resourceMetadata, serverMetadata } from '../../auth/metadata.ts';
import type { TokenEndpoint } from '../../auth/tokens/token-endpoint.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Handlers } from '../handler.ts';

interface OAuthParts {
  readonly endpoint: TokenEndpoint;
  readonly keys: SigningKeys;
  readonly offered: OfferedSignIn;
  readonly metrics: Pick<Metrics, 'tokenRequests'>;
}

/** Public documents: a verifier may cache them for as long as a key is published before it signs. */
const cacheable = { 'cache-control': `public, max-age=${jwksMaxAgeMs / 1000}` } as const;

export function oauthRoutes({
  endpoint,
  keys,
  offered,
  metrics,
}: OAuthParts): Handlers<'issue_token' | 'get_metadata' | 'get_resource_metadata' | 'get_jwks'> {
  return {
    async issue_token({ body, request }) {
      const { authorization } = request.raw.headers;
      const { address, id: requestId } = request;
      const exchange = { authorization, form: body, address, requestId };
      const token = await endpoint.exchange(exchange).catch((error: unknown) => {
        metrics.tokenRequests.add(1, error instanceof Refusal ? error.code : 'internal');
        throw error;
      });
      metrics.tokenRequests.add(1, 'issued');
      return { status: 200, body: token };
    },

    get_metadata: () => ({
      status: 200,
      body: serverMetadata(offered),
      headers: cacheable,
    }),

    get_resource_metadata: ({ params: { organization_id, tenant_id } }) => ({
      status: 200,
      body: resourceMetadata(offered, { organizationId: organization_id, tenantId: tenant_id }),
      headers: cacheable,
    }),

    async get_jwks() {
      return { status: 200, body: await keys.published(), headers: cacheable };
    },
  };
}
