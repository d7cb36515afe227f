import {
  type Account,
  type AccountServices,
  currentAccount,
  noteUse,
  rejectAccount,
} from '../app/connections/current-account.ts';
import type { Agent } from '../domain/agent.ts';
import type { Connection, ConnectionSecret } from '../domain/connections/connection.ts';
import { type DeclaredConnection, placesFor } from '../domain/connections/declared.ts';
import { aheadOfLegMs, aheadOfRequestMs, expiredText } from '../domain/connections/refresh.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Session } from '../domain/session.ts';
import {
  type AccountHeader,
  type LegConnections,
  NotConnected,
} from '../ports/connections/leg-connections.ts';

interface LegAccounts {
  readonly agent: Pick<Agent, 'connections'>;
  readonly session: Pick<Session, 'organizationId' | 'tenantId' | 'endUser'>;
}

export type OpenedConnections =
  | {
      readonly ok: true;
      readonly connections: LegConnections | undefined;
      /** Events about the accounts that the leg starts with. */
      readonly used: readonly UsedEvent[];
    }
  | { readonly ok: false; readonly missing: readonly MissingAccount[] };

/** An account that is required and cannot be used now. */
export interface MissingAccount {
  readonly declared: DeclaredConnection;
  /** `unavailable`: it may be usable again later, without its end user. */
  readonly kind: Exclude<Account['kind'], 'usable'>;
}

/** Reads every account that the agent declares; undefined for an agent that declares none, which costs nothing. */
export async function openConnections(
  services: AccountServices,
  { agent: { connections: declared = [] }, session }: LegAccounts,
): Promise<OpenedConnections> {
  if (declared.length === 0) return { ok: true, connections: undefined, used: [] };
  const accounts = new DeclaredAccounts(services, session, declared);
  const missing = await accounts.open();
  if (missing.length > 0) return { ok: false, missing };
  return { ok: true, connections: accounts, used: accounts.used.map(usedEvent) };
}

class DeclaredAccounts implements LegConnections {
  readonly #services: AccountServices;
  readonly #session: LegAccounts['session'];
  readonly #declared: readonly DeclaredConnection[];
  readonly #atStart = new Map<string, AccountHeader>();
  readonly used: Connection[] = [];

  constructor(
    services: AccountServices,
    session: LegAccounts['session'],
    declared: readonly DeclaredConnection[],
  ) {
    this.#services = services;
    this.#session = session;
    this.#declared = declared;
  }

  /** Returns the required accounts that cannot be used. */
  async open(): Promise<readonly MissingAccount[]> {
    const missing: MissingAccount[] = [];
    for (const declared of this.#declared) {
      const account = await this.#find(declared, { aheadMs: aheadOfLegMs });
      if (account.kind === 'usable') {
        await noteUse(this.#services, account.connection);
        this.used.push(account.connection);
        this.#atStart.set(declared.service, headerOf(account.connection, account.secret));
      } else if (declared.isRequired) missing.push({ declared, kind: account.kind });
    }
    return missing;
  }

  atStart(service: string): AccountHeader | undefined {
    return this.#atStart.get(service);
  }

  async now(service: string): Promise<AccountHeader> {
    const account = await this.#find(this.#named(service), { aheadMs: aheadOfRequestMs });
    if (account.kind !== 'usable') throw new NotConnected(textOf(account, service));
    await noteUse(this.#services, account.connection);
    return headerOf(account.connection, account.secret);
  }

  async refresh({ version }: AccountHeader, service: string): Promise<AccountHeader> {
    const wanted = { aheadMs: aheadOfRequestMs, refusedVersion: version };
    const account = await this.#find(this.#named(service), wanted);
    if (account.kind !== 'usable') throw new NotConnected(textOf(account, service));
    return headerOf(account.connection, account.secret);
  }

  async reject({ version }: AccountHeader, service: string): Promise<never> {
    const account = await this.#find(this.#named(service), { aheadMs: 0 });
    if (account.kind === 'usable' && account.connection.version === version) {
      await rejectAccount(this.#services, account.connection);
    }
    const now = await this.#find(this.#named(service), { aheadMs: 0 });
    const why = now.kind === 'usable' ? `${service} refused the account` : textOf(now, service);
    throw new NotConnected(why);
  }

  #named(service: string): DeclaredConnection {
    const declared = this.#declared.find((one) => one.service === service);
    if (declared === undefined) throw new NotConnected(`${service} is not declared by the agent`);
    return declared;
  }

  /** An account that has expired does not fall back: the agent would act as another one (D-596). */
  async #find(
    declared: DeclaredConnection,
    wanted: { readonly aheadMs: number; readonly refusedVersion?: number },
  ): Promise<Account> {
    const { organizationId, tenantId } = this.#session;
    const scope = { organizationId, tenantId };
    for (const at of placesFor(declared, this.#session)) {
      const account = await currentAccount(this.#services, { ...wanted, scope, at });
      if (account.kind !== 'missing') return account;
    }
    return { kind: 'missing' };
  }
}

interface UsedEvent {
  readonly type: 'connection_used';
  readonly data: JsonObject;
}

/** D-602: says in the log of the run whose account the agent got. */
function usedEvent({ service, id, endUser }: Connection): UsedEvent {
  const owner = endUser === null ? 'tenant' : 'end_user';
  return { type: 'connection_used', data: { service, connection_id: id, owner } };
}

function headerOf({ auth, version }: Connection, { value: secret }: ConnectionSecret) {
  return auth.type === 'header'
    ? { name: auth.name, value: secret, secret, version }
    : { name: 'Authorization', value: `Bearer ${secret}`, secret, version };
}

function textOf(account: Exclude<Account, { kind: 'usable' }>, service: string): string {
  switch (account.kind) {
    case 'missing':
      return `${service} is not connected: the connection was removed`;
    case 'expired':
      return expiredText(account.connection);
    case 'unavailable':
      return `${service} is not connected now: its token has ended, and its token endpoint does not issue another one`;
    default:
      return account satisfies never;
  }
}
