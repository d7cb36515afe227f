import { type SessionId, type TenantId, limits } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import type { ApplicationActor } from '../../domain/access.ts';
import type { ConnectionPlace } from '../../domain/connections/connection.ts';
import {
  type ConnectFlow,
  type DeclaredLink,
  type LinkToDiscover,
  type ServiceLink,
  accountOf,
  authorizationUrl,
  isFromIssuer,
  returnTo,
} from '../../domain/connections/link.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { digestOf, endFlows, flowModel as model, placeDigest } from './connect-flows.ts';
import { type ConnectionServices, type StoredConnection, storeAccount } from './connections.ts';

/**
 * An account is connected by a link in three steps: begin, return, finish (D-606). No transaction is open during HTTP.
 */
type ConnectServices = Pick<
  Services,
  'store' | 'clock' | 'connectLinks' | 'tokenEndpoints' | 'tokenRequests'
>;
type BeginServices = ConnectServices & Pick<Services, 'serviceDiscovery'>;

export interface BeginConnection {
  readonly at: ConnectionPlace & { readonly endUser: string };
  readonly sessionId: SessionId;
  readonly link: DeclaredLink | undefined;
  readonly returnUrl: string;
}

export interface BegunConnection {
  readonly connectUrl: string;
  readonly expiresAt: number;
}

/** Each account has one open flow at most: another beginning ends the one before (D-944). */
export async function beginConnection(
  services: BeginServices,
  scope: TenantScope,
  { at, sessionId, link: declared, returnUrl }: BeginConnection,
): Promise<BegunConnection> {
  const { connectLinks, store, clock } = services;
  if (!connectLinks.isReturnUrl(returnUrl)) {
    refuse('invalid_body', {
      message:
        'return_url: must be a page of the console, or one whose origin is in CONVOKE_CORS_ORIGINS.',
    });
  }
  const link = await usableLink(services, scope, declared);
  const [state, verifier] = [connectLinks.newSecret(), connectLinks.newSecret()];
  const digest = digestOf(state);
  const expiresAt = clock.now() + limits.connectTtlMs;
  const flow: ConnectFlow = { ...scope, ...at, sessionId, link, verifier, returnUrl };
  await store.transaction(async (tx) => {
    await endFlows(tx, scope, at);
    await tx.identityRecords.save({
      model,
      digest,
      userId: null,
      grantDigest: placeDigest(scope, at),
      uidDigest: null,
      userCodeDigest: null,
      payload: connectLinks.seal(digest, flow),
      consumedAt: null,
      expiresAt,
    });
  });
  const { callbackUrl } = connectLinks;
  const asking = { callbackUrl, state, challenge: digestOf(verifier) };
  return { connectUrl: authorizationUrl(link, asking), expiresAt };
}

/** Checks everything that a user would otherwise meet only after signing in. */
async function usableLink(
  services: BeginServices,
  { tenantId }: TenantScope,
  declared: DeclaredLink | undefined,
): Promise<ServiceLink> {
  if (declared === undefined) return refuse('connect_unavailable');
  const { connectLinks, tokenEndpoints } = services;
  const link = 'mcpServer' in declared ? await discovered(services, tenantId, declared) : declared;
  const problem = await tokenEndpoints.problemOf({ tenantId, url: link.tokenEndpoint });
  if (problem !== undefined) unavailable(`The token endpoint of the service: ${problem}`);
  const clientSecret = await connectLinks
    .clientSecretOf(link)
    .catch(() =>
      unavailable('The server cannot read the client_secret that the agent names for the service.'),
    );
  return { ...link, clientSecret };
}

/** D-1070: the endpoints that the MCP server of the account names now. */
async function discovered(
  { serviceDiscovery, tokenEndpoints, tokenRequests, connectLinks }: BeginServices,
  tenantId: TenantId,
  { mcpServer, clientId, clientSecret, scope }: LinkToDiscover,
): Promise<ServiceLink> {
  const found = await tokenRequests.inTurn(tenantId, {
    request: () => serviceDiscovery.discover({ tenantId, mcpServer }),
    late: { ok: false, problem: 'too many other requests are under way' } as const,
  });
  if (!found.ok) return unavailable(`The service: ${found.problem}.`);
  const { service } = found;
  const { authorizationEndpoint } = service;
  const problem = await tokenEndpoints.problemOf({ tenantId, url: authorizationEndpoint });
  if (problem !== undefined) unavailable(`The authorization endpoint of the service: ${problem}`);
  const isKnown = service.readsClientDocuments && connectLinks.clientId.startsWith('https:');
  if (clientId === undefined && !isKnown) {
    unavailable(
      'The service does not read who this server is: register it there, and name its client_id.',
    );
  }
  return {
    authorizationEndpoint,
    tokenEndpoint: service.tokenEndpoint,
    clientId: clientId ?? connectLinks.clientId,
    clientSecret,
    scope: scope ?? service.scope,
    issuer: service.issuer,
    issuerIsOptional: !service.saysIssuer,
    resource: service.resource,
  };
}

function unavailable(message: string): never {
  return refuse('connect_unavailable', { message });
}

/** The parameters that a service sent back with a browser. */
export interface ConnectReturn {
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly iss: string | undefined;
  readonly error: string | undefined;
}

/**
 * Takes the flow of a browser that a service sent back, exchanges the code, and returns where the browser continues;
 * undefined for a return that is forged, repeated or late, and where the account was revoked after the beginning.
 * Nothing is connected yet.
 */
export async function returnFromService(
  services: ConnectServices,
  { state = '', code, iss, error }: ConnectReturn,
): Promise<string | undefined> {
  const { store, clock, connectLinks, tokenEndpoints, tokenRequests } = services;
  const digest = digestOf(state);
  const flow = await takeFlow(services, digest);
  if (flow === undefined || !isFromIssuer(flow, iss)) return undefined;
  const { link, verifier, tenantId } = flow;
  if (error !== undefined || code === undefined || code === '') {
    return returnTo(flow, { error: error === 'access_denied' ? error : 'connect_failed' });
  }
  const { tokenEndpoint: url, clientId, clientSecret, resource } = link;
  const redirectUri = connectLinks.callbackUrl;
  const grant = { tenantId, url, clientId, clientSecret, resource, code, verifier, redirectUri };
  const answer = await tokenRequests.inTurn(tenantId, {
    request: () => tokenEndpoints.redeem(grant),
    late: { kind: 'unavailable' } as const,
  });
  if (answer.kind !== 'refreshed') return returnTo(flow, { error: 'connect_failed' });
  const ticket = connectLinks.newSecret();
  const now = clock.now();
  const payload = connectLinks.seal(digest, { ...flow, answer: { token: answer.token, at: now } });
  const record = { model, digest, uidDigest: digestOf(ticket), payload };
  const isThere = await store.transaction((tx) => tx.identityRecords.renew(record, now));
  return isThere ? returnTo(flow, { ticket }) : undefined;
}

/** Of two requests at the same moment one gets the flow. */
async function takeFlow(
  { store, clock, connectLinks }: ConnectServices,
  digest: string,
): Promise<ConnectFlow | undefined> {
  return store.transaction(async ({ identityRecords }) => {
    const now = clock.now();
    const found = await identityRecords.find(model, digest);
    if (found === undefined || found.expiresAt <= now) return undefined;
    if (!(await identityRecords.consume(model, digest, now))) return undefined;
    return connectLinks.open(digest, found.payload);
  });
}

export interface FinishConnection {
  readonly at: ConnectionPlace;
  readonly sessionId: SessionId;
  readonly ticket: string;
  readonly createdBy: ApplicationActor;
  readonly by: Actor;
}

/** Uses the ticket up and connects its account, in one transaction. Every other ticket is the same to the caller. */
export async function finishConnection(
  services: ConnectionServices & Pick<Services, 'connectLinks'>,
  scope: TenantScope,
  { at, sessionId, ticket, createdBy, by }: FinishConnection,
): Promise<StoredConnection> {
  const { connectLinks, clock, store } = services;
  return store.transaction(async (tx) => {
    const found = await tx.identityRecords.findByUid(model, digestOf(ticket));
    const flow = found && connectLinks.open(found.digest, found.payload);
    const isOfSession =
      flow?.tenantId === scope.tenantId &&
      flow.sessionId === sessionId &&
      flow.service === at.service &&
      flow.endUser === at.endUser;
    if (found === undefined || !isOfSession || found.expiresAt <= clock.now()) {
      return refuse('invalid_ticket');
    }
    const account = accountOf(flow) ?? refuse('invalid_ticket');
    // First the connection, as a revocation does, which then ends the flow.
    await tx.connections.lock(scope, at);
    if (!(await tx.identityRecords.remove(model, found.digest))) return refuse('invalid_ticket');
    return storeAccount(services, tx, {
      scope,
      put: { at, account, createdBy, by },
      action: 'connection.connect',
    });
  });
}
