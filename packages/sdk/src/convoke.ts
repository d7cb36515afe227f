import type { AgentTypes, AnyAgents } from './agent-types.ts';
import { Agents } from './agents.ts';
import { Feed } from './feed.ts';
import { Connections } from './generated/connections.ts';
import type {
  AcceptedInvitation,
  CallerRecord,
  MeRecord,
  OverviewRecord,
  SystemRecord,
  WorkspaceRecord,
} from './generated/records.ts';
import type { PageQuery, UsageQuery } from './generated/requests.ts';
import { type ConnectionOptions, type TokenOptions, tokenOf, transportOptions } from './options.ts';
import { Webhooks } from './webhooks/webhooks.ts';
import { Schedules } from './schedules.ts';
import { Sessions } from './sessions/sessions.ts';
import { Usage } from './usage.ts';
import { TenantInteractions, TenantRuns } from './tenant.ts';
import type { Listing } from './transport/listing.ts';
import { type AuthorizedFetch, authorizedFetch } from './transport/authorized-fetch.ts';
import { Bearer, type ClientCredentials, type TokenProvider } from './transport/tokens.ts';
import { type CallOptions, Transport } from './transport/transport.ts';
import {
  SelectedWorkspace,
  type TenantHeader,
  type WorkspaceSelector,
  listWorkspaces,
} from './workspaces.ts';

export type ConvokeOptions = ConnectionOptions &
  (ClientCredentials | TokenOptions) & {
    /** Optional if the credentials can access only one workspace. */
    readonly workspace?: WorkspaceSelector | undefined;
    /** Use `x-tenant-id` only if the administrator of the service says so. */
    readonly tenantHeader?: TenantHeader | undefined;
  };

/**
 * Client for the agents of one workspace.
 *
 * @example
 * const convoke = new Convoke({ baseUrl: 'https://convoke.example', clientId, clientSecret });
 * const session = await convoke.sessions.create('demo');
 * const run = await session.run('Hello');
 * console.log(await run.text());
 *
 * // With the file that `npx convoke agents types` writes, inputs and outputs are checked before anything runs.
 * const convoke = new Convoke<Agents>({ baseUrl: 'https://convoke.example', clientId, clientSecret });
 */
export class Convoke<Types extends AgentTypes<Types> = AnyAgents> {
  readonly agents: Agents<Types>;
  readonly sessions: Sessions<Types>;
  readonly feed: Feed;
  readonly schedules: Schedules;
  readonly usage: Usage<UsageQuery>;
  /** The runs of all sessions. */
  readonly runs: TenantRuns;
  /** Pending requests in all sessions. */
  readonly interactions: TenantInteractions;
  readonly webhooks: Webhooks;
  readonly connections: Connections;
  /**
   * `fetch` with the token and the workspace of this client, for libraries that take such a function. Sends a request
   * once more with a new token after a 401, and refuses addresses that are not below `baseUrl`.
   *
   * @example
   * const agent = new HttpAgent({ url, fetch: convoke.fetch });
   */
  readonly fetch: AuthorizedFetch;
  readonly #options: ConvokeOptions;
  readonly #token: string | TokenProvider;
  readonly #transport: Transport;
  /** For requests that need a token but no workspace. */
  readonly #account: Transport;

  constructor(options: ConvokeOptions) {
    const { workspace = {}, tenantHeader = 'x-workspace-tenant-id' } = options;
    const connection = transportOptions(options);
    this.#options = options;
    this.#token = tokenOf(options, connection);
    const bearer = new Bearer(this.#token);
    this.#account = new Transport(connection, bearer);
    const selected = new SelectedWorkspace(bearer, this.#account, { workspace, tenantHeader });
    this.#transport = new Transport(connection, selected);
    this.fetch = authorizedFetch(connection, selected);
    this.agents = new Agents(this.#transport);
    this.sessions = new Sessions(this.#transport);
    this.feed = new Feed(this.#transport);
    this.schedules = new Schedules(this.#transport);
    this.usage = new Usage(this.#transport, '/v1/usage');
    this.runs = new TenantRuns(this.#transport);
    this.interactions = new TenantInteractions(this.#transport);
    this.webhooks = new Webhooks(this.#transport);
    this.connections = new Connections(this.#transport);
  }

  /** Returns the caller that the credentials identify, with its scopes. */
  whoami({ signal }: CallOptions = {}): Promise<CallerRecord> {
    return this.#transport.json({ method: 'GET', path: '/v1/whoami', signal });
  }

  /** Returns the person who is signed in, with their organizations and roles. Automation clients are rejected. */
  me({ signal }: CallOptions = {}): Promise<MeRecord> {
    return this.#account.json({ method: 'GET', path: '/v1/me', signal });
  }

  /** Joins an organization with the secret of an invitation, as the person who is signed in. */
  acceptInvitation(secret: string, { signal }: CallOptions = {}): Promise<AcceptedInvitation> {
    const path = '/v1/invitations/accept';
    return this.#account.json({ method: 'POST', path, json: { secret }, signal });
  }

  /** Returns version, frameworks and limits of the server. */
  system({ signal }: CallOptions = {}): Promise<SystemRecord> {
    return this.#account.json({ method: 'GET', path: '/v1/system', signal });
  }

  /** Counts the runs that have not ended and the interactions that wait for a person. */
  overview({ signal }: CallOptions = {}): Promise<OverviewRecord> {
    return this.#transport.json({ method: 'GET', path: '/v1/overview', signal });
  }

  /** Lists the workspaces that the credentials can access. */
  workspaces(query: PageQuery & CallOptions = {}): Listing<WorkspaceRecord> {
    return listWorkspaces(this.#account, query);
  }

  /** Returns a client for another workspace, with the same credentials and token. */
  in(workspace: WorkspaceSelector): Convoke<Types> {
    return new Convoke<Types>({ ...this.#options, token: this.#token, workspace });
  }
}
