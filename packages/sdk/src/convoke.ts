import { Agents } from './agents.ts';
import type { CallerRecord, WorkspaceRecord } from './generated/records.ts';
import type { PageQuery } from './generated/requests.ts';
import { type ConnectionOptions, type TokenOptions, tokenOf, transportOptions } from './options.ts';
import { Sessions } from './sessions/sessions.ts';
import type { Listing } from './transport/listing.ts';
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
    /** Not needed where the credentials reach one workspace only. */
    readonly workspace?: WorkspaceSelector | undefined;
    /** `x-tenant-id` only where the administrator of the service says so. */
    readonly tenantHeader?: TenantHeader | undefined;
  };

/**
 * A backend's way to the agents of one workspace.
 *
 * @example
 * const convoke = new Convoke({ baseUrl: 'https://convoke.example', clientId, clientSecret });
 * const session = await convoke.sessions.create('demo');
 * const run = await session.run('Hello');
 * console.log(await run.text());
 */
export class Convoke {
  readonly agents: Agents;
  readonly sessions: Sessions;
  readonly #options: ConvokeOptions;
  readonly #token: string | TokenProvider;
  readonly #transport: Transport;
  /** For what needs a token but no workspace. */
  readonly #account: Transport;

  constructor(options: ConvokeOptions) {
    const { workspace = {}, tenantHeader = 'x-workspace-tenant-id' } = options;
    const connection = transportOptions(options);
    this.#options = options;
    this.#token = tokenOf(options, connection);
    const bearer = new Bearer(this.#token);
    this.#account = new Transport(connection, bearer);
    this.#transport = new Transport(
      connection,
      new SelectedWorkspace(bearer, this.#account, { workspace, tenantHeader }),
    );
    this.agents = new Agents(this.#transport);
    this.sessions = new Sessions(this.#transport);
  }

  /** Who the credentials speak for, and what they may do. */
  whoami({ signal }: CallOptions = {}): Promise<CallerRecord> {
    return this.#transport.json({ method: 'GET', path: '/v1/whoami', signal });
  }

  /** What the credentials reach. */
  workspaces(query: PageQuery & CallOptions = {}): Listing<WorkspaceRecord> {
    return listWorkspaces(this.#account, query);
  }

  /** The same credentials, and the same token, in another workspace. */
  in(workspace: WorkspaceSelector): Convoke {
    return new Convoke({ ...this.#options, token: this.#token, workspace });
  }
}
