import { limits } from '@convoke/contract';
import { z } from 'zod';
import type {
  Discovered,
  DiscoveredService,
  ServiceDiscovery,
} from '../ports/connections/service-discovery.ts';
import { type DocumentParts, readGuarded } from './guarded-document.ts';

/** Behind this no further document is asked for: a person waits, and others of the tenant for their turn (D-946). */
const togetherMs = 10_000;

/**
 * Finds the authorization server of an MCP server: its protected resource metadata (RFC 9728), then the metadata of the
 * issuer that this names (RFC 8414, or OpenID Connect). Every address is checked by the guard of D-609.
 */
export function createServiceDiscovery(parts: DocumentParts): ServiceDiscovery {
  return {
    async discover({ tenantId, mcpServer }) {
      const until = parts.clock.now() + togetherMs;
      const read = async (url: string) => {
        if (parts.clock.now() >= until) return undefined;
        return jsonIn(await readGuarded({ url: new URL(url), lookupsOf: tenantId }, parts));
      };
      const resource = await first(resourceAddresses(mcpServer), async (url) =>
        resourceIn(await read(url), mcpServer),
      );
      if (resource === undefined) return problem(`${mcpServer} names no authorization server`);
      const [issuer = ''] = resource.authorization_servers;
      const server = await first(issuerAddresses(issuer), async (url) =>
        serverIn(await read(url), issuer),
      );
      if (server === undefined)
        return problem(`${issuer} cannot be read, or has no codes with PKCE`);
      return { ok: true, service: serviceOf(resource, server) };
    },
  };
}

const endpoint = z
  .url({ protocol: /^https?$/ })
  .max(limits.connectionUrlMaxCharacters)
  .refine((url) => !url.includes('#'));
const words = z
  .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/))
  .optional()
  .catch(undefined);

const resourceDocument = z.looseObject({
  resource: endpoint,
  authorization_servers: z.array(endpoint).min(1),
  scopes_supported: words,
});
type ResourceDocument = z.infer<typeof resourceDocument>;

const serverDocument = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  response_types_supported: z.array(z.string()).refine((types) => types.includes('code')),
  // Without it a code that is stolen on its way could be used by others.
  code_challenge_methods_supported: z.array(z.string()).refine((all) => all.includes('S256')),
  scopes_supported: words,
  authorization_response_iss_parameter_supported: z.boolean().default(false).catch(false),
  client_id_metadata_document_supported: z.boolean().default(false).catch(false),
});
type ServerDocument = z.infer<typeof serverDocument>;

/** RFC 9728 section 3.1: below its own path, else that of the whole host. */
function resourceAddresses(mcpServer: string): readonly string[] {
  const { origin, pathname, search } = new URL(mcpServer);
  const base = `${origin}/.well-known/oauth-protected-resource`;
  const own = pathname === '/' ? base : base + pathname;
  return [...new Set([own + search, own, base])];
}

/** RFC 8414 section 3.1, and the places of OpenID Connect. */
function issuerAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ];
}

/** Undefined unless the document is about this MCP server. */
function resourceIn(json: unknown, mcpServer: string): ResourceDocument | undefined {
  const { data } = resourceDocument.safeParse(json);
  return data !== undefined && isWithin(mcpServer, data.resource) ? data : undefined;
}

/** Tokens for a resource are for what is below its path, too. */
function isWithin(mcpServer: string, resource: string): boolean {
  const [asked, said] = [new URL(mcpServer), new URL(resource)];
  const below = said.pathname.endsWith('/') ? said.pathname : `${said.pathname}/`;
  return asked.origin === said.origin && `${asked.pathname}/`.startsWith(below);
}

/** Undefined unless it is the issuer that was asked for (RFC 8414 section 3.3). */
function serverIn(json: unknown, issuer: string): ServerDocument | undefined {
  const { data } = serverDocument.safeParse(json);
  return data?.issuer === issuer ? data : undefined;
}

function serviceOf(resource: ResourceDocument, server: ServerDocument): DiscoveredService {
  const scope = scopeOf(resource, server);
  return {
    resource: resource.resource,
    issuer: server.issuer,
    saysIssuer: server.authorization_response_iss_parameter_supported,
    authorizationEndpoint: server.authorization_endpoint,
    tokenEndpoint: server.token_endpoint,
    scope: scope !== '' && scope.length <= limits.connectionScopeMaxCharacters ? scope : undefined,
    readsClientDocuments: server.client_id_metadata_document_supported,
  };
}

/** What the MCP server wants, with a refresh token where that has to be asked for. */
function scopeOf({ scopes_supported: wanted = [] }: ResourceDocument, server: ServerDocument) {
  const { scopes_supported: known = [] } = server;
  const refreshes = known.filter((scope) => scope === 'offline_access');
  return [...new Set([...wanted, ...(wanted.length === 0 ? [] : refreshes)])].join(' ');
}

async function first<Found>(
  addresses: readonly string[],
  look: (address: string) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for (const address of addresses) {
    const found = await look(address);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problem(text: string): Discovered {
  return { ok: false, problem: text };
}

function jsonIn(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
