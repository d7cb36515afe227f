import type { Scope, TenantId } from '@convoke/contract';
import {
  type Access,
  type ApplicationCaller,
  type ClientIdentity,
  type PersonAccess,
  type PersonIdentity,
  type Reach,
  type Standing,
  decideAccess,
  decidePersonAccess,
} from '../domain/access.ts';
import type { Ruling } from '../domain/refusal.ts';
import type { Store } from '../ports/store.ts';
import type { Selectors } from './selectors.ts';
import type { AutomationToken, PersonTenantToken, SessionToken } from './tokens/verified-token.ts';

/** The access that a request of the application API needs. */
export interface RequiredAccess {
  readonly selectors: Selectors;
  readonly required: readonly Scope[];
}

/**
 * Decides who may use the application API, and whether a caller still may (D-51, D-154). Every decision reads the
 * database: nothing here is cached, so a revocation takes effect on the next request.
 */
export interface ApplicationAccess {
  ofClient(token: AutomationToken, asked: RequiredAccess): Promise<Ruling<ApplicationCaller>>;
  /** D-198: as for the client that created the token, whose selectors are in it. */
  ofSession(token: SessionToken, required: readonly Scope[]): Promise<Ruling<ApplicationCaller>>;
  ofPerson(token: PersonTenantToken, asked: RequiredAccess): Promise<Ruling<ApplicationCaller>>;
  /** For open streams: the decision for the same caller, made again. */
  again(caller: ApplicationCaller): Promise<Standing>;
}

export function createApplicationAccess(store: Store): ApplicationAccess {
  async function decidePerson(
    { userId, claimedRole }: Pick<PersonIdentity, 'userId' | 'claimedRole'>,
    { scopes: tokenScopes, issuedAt: tokenIssuedAt }: TokenPart,
    { selectors, required }: RequiredAccess,
  ): Promise<Ruling<PersonAccess>> {
    const reached = await store.read.organizations.reach(userId, selectors);
    return decidePersonAccess(reached, { claimedRole, tokenScopes, tokenIssuedAt, required });
  }

  return {
    async ofClient(token, asked) {
      const { oauthClientId, credentialId } = token;
      // Already in the scope of the requested tenant, so that the handler can reuse the connection.
      const { tenantId } = asked.selectors;
      const reached = await store.inTenantScope(tenantId, () =>
        // A revoked credential ends open streams, not the tokens it obtained (spec §5.7).
        store.read.clients.reach(oauthClientId, tenantId),
      );
      return admittedClient(decideClient(reached, token, asked), { token, asked, credentialId });
    },

    async ofSession(token, required) {
      const { organizationId, tenantId, oauthClientId, credentialId } = token;
      const asked = { selectors: { organizationId, tenantId }, required };
      const client = { oauthClientId };
      const reached = await store.inTenantScope(tenantId, () =>
        reachAgain(store, { client, credentialId }, tenantId),
      );
      // D-385: it may live for an hour, so it does not outlive its credential as a client's own token does.
      if ((reached?.revokedAt ?? null) !== null) return { ok: false, code: 'unauthorized' };
      return admittedClient(decideClient(reached, token, asked), { token, asked, credentialId });
    },

    async ofPerson(token, asked) {
      const { userId, claimedRole } = token;
      const { organizationId, tenantId } = asked.selectors;
      if (organizationId !== token.organizationId || tenantId !== token.tenantId) {
        return { ok: false, code: 'forbidden' };
      }
      const ruling = await store.inTenantScope(tenantId, () => decidePerson(token, token, asked));
      if (!ruling.ok) return ruling;
      const { role } = ruling.value;
      const identity = { kind: 'person', userId, role, claimedRole } as const;
      const actor = { kind: 'user', id: userId } as const;
      return { ok: true, value: callerOf({ token, asked, identity, actor, ...ruling.value }) };
    },

    async again({ identity, scope: selectors, scopes, required, tokenIssuedAt: issuedAt }) {
      const asked = { selectors, required };
      const token = { scopes, issuedAt };
      if (identity.kind === 'person') {
        const ruling = await decidePerson(identity, token, asked);
        // A stream ends with the role under which it was opened: its reader asks again what it may do (D-791).
        const hasAccess = ruling.ok && ruling.value.role === identity.role;
        return { hasAccess, revokedAt: undefined };
      }
      const reached = await reachAgain(store, identity, selectors.tenantId);
      const { ok: hasAccess } = decideClient(reached, token, asked);
      return { hasAccess, revokedAt: reached?.revokedAt ?? undefined };
    },
  };
}

/** The token's own part of the decision: its scopes, and when it was issued. */
type TokenPart = Pick<PersonTenantToken, 'scopes' | 'issuedAt'>;

function decideClient(
  reached: Reach | undefined,
  { scopes: tokenScopes, issuedAt: tokenIssuedAt }: TokenPart,
  { selectors: { organizationId }, required }: RequiredAccess,
): Ruling<Access> {
  return decideAccess(reached, { organizationId, tokenScopes, tokenIssuedAt, required });
}

/** Reads what `ofClient` read, and when the credential was revoked. */
async function reachAgain(
  { read: { clients } }: Store,
  { client: { oauthClientId }, credentialId }: ReadAgain,
  tenantId: TenantId,
) {
  if (credentialId !== undefined) return clients.reachWith(credentialId, oauthClientId, tenantId);
  const reached = await clients.reach(oauthClientId, tenantId);
  return reached && { ...reached, revokedAt: null };
}

interface ReadAgain extends Pick<ClientIdentity, 'credentialId'> {
  readonly client: Pick<ClientIdentity['client'], 'oauthClientId'>;
}

function admittedClient(
  ruling: Ruling<Access>,
  {
    credentialId,
    ...asking
  }: Pick<AdmittedCaller, 'token' | 'asked'> & Pick<ReadAgain, 'credentialId'>,
): Ruling<ApplicationCaller> {
  if (!ruling.ok) return ruling;
  const { client } = ruling.value;
  const identity = { kind: 'client', client, credentialId } as const;
  const actor = { kind: 'client', id: client.id } as const;
  return { ok: true, value: callerOf({ ...asking, identity, actor, ...ruling.value }) };
}

interface AdmittedCaller
  extends Pick<ApplicationCaller, 'identity' | 'actor' | 'tenant' | 'scopes'> {
  readonly token: AutomationToken | SessionToken | PersonTenantToken;
  readonly asked: RequiredAccess;
}

function callerOf({
  token,
  asked,
  identity,
  actor,
  tenant,
  scopes,
}: AdmittedCaller): ApplicationCaller {
  const { organizationId } = asked.selectors;
  const session =
    token.kind === 'session' ? { id: token.sessionId, endUser: token.endUser } : undefined;
  return {
    kind: 'application',
    actor,
    identity,
    organizationId,
    tenant,
    scope: { organizationId, tenantId: tenant.id },
    scopes,
    required: asked.required,
    tokenExpiresAt: token.expiresAt,
    tokenIssuedAt: token.issuedAt,
    session,
    subject: session === undefined ? actor.id : `${actor.id} ${session.id}`,
  };
}
