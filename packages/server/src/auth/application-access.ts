import type { Scope } from '@convoke/contract';
import {
  type Access,
  type ApplicationCaller,
  type ClientIdentity,
  type PersonAccess,
  type PersonIdentity,
  decideAccess,
  decidePersonAccess,
} from '../domain/access.ts';
import type { Ruling } from '../domain/refusal.ts';
import type { Store } from '../ports/store.ts';
import type { Selectors } from './selectors.ts';
import type { AutomationToken, PersonTenantToken } from './tokens/verified-token.ts';

/** What a request of the application API asks for. */
export interface Asked {
  readonly selectors: Selectors;
  readonly required: readonly Scope[];
}

/**
 * Decides who may use the application API, and whether a caller still may (D-51, D-154). Every decision reads the
 * database: nothing here is cached, so a revocation takes effect on the next request.
 */
export interface ApplicationAccess {
  ofClient(token: AutomationToken, asked: Asked): Promise<Ruling<ApplicationCaller>>;
  ofPerson(token: PersonTenantToken, asked: Asked): Promise<Ruling<ApplicationCaller>>;
  /** For an open stream: the decision for the same caller, made again. */
  again(caller: ApplicationCaller): Promise<boolean>;
}

export function createApplicationAccess(store: Store): ApplicationAccess {
  /** The token's own part of the decision: what it allows, and since when it exists. */
  type TokenPart = Pick<PersonTenantToken, 'scopes' | 'issuedAt'>;

  async function decideClient(
    {
      client,
      credentialId,
    }: { client: { oauthClientId: string } } & Pick<ClientIdentity, 'credentialId'>,
    { scopes: tokenScopes, issuedAt: tokenIssuedAt }: TokenPart,
    { selectors: { organizationId, tenantId }, required }: Asked,
  ): Promise<Ruling<Access>> {
    const { clients } = store.read;
    const reached =
      credentialId === undefined
        ? await clients.reach(client.oauthClientId, tenantId)
        : await clients.reachWith(credentialId, client.oauthClientId, tenantId);
    return decideAccess(reached, { organizationId, tokenScopes, tokenIssuedAt, required });
  }

  async function decidePerson(
    { userId, claimedRole }: Pick<PersonIdentity, 'userId' | 'claimedRole'>,
    { scopes: tokenScopes, issuedAt: tokenIssuedAt }: TokenPart,
    { selectors, required }: Asked,
  ): Promise<Ruling<PersonAccess>> {
    const reached = await store.read.organizations.reach(userId, selectors);
    return decidePersonAccess(reached, { claimedRole, tokenScopes, tokenIssuedAt, required });
  }

  return {
    async ofClient(token, asked) {
      const { oauthClientId, credentialId } = token;
      // Already in the scope of the requested tenant, so that the handler can reuse the connection.
      const ruling = await store.inTenantScope(asked.selectors.tenantId, () =>
        // A revoked credential ends streams, not the tokens it obtained (spec §5.7).
        decideClient({ client: { oauthClientId }, credentialId: undefined }, token, asked),
      );
      if (!ruling.ok) return ruling;
      const { client } = ruling.value;
      const identity = { kind: 'client', client, credentialId } as const;
      const actor = { kind: 'client', id: client.id } as const;
      return { ok: true, value: callerOf({ token, asked, identity, actor, ...ruling.value }) };
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
      const ruling =
        identity.kind === 'client'
          ? await decideClient(identity, token, asked)
          : await decidePerson(identity, token, asked);
      return ruling.ok;
    },
  };
}

interface Admitted extends Pick<ApplicationCaller, 'identity' | 'actor' | 'tenant' | 'scopes'> {
  readonly token: AutomationToken | PersonTenantToken;
  readonly asked: Asked;
}

function callerOf({ token, asked, identity, actor, tenant, scopes }: Admitted): ApplicationCaller {
  const { organizationId } = asked.selectors;
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
    subject: actor.id,
  };
}
