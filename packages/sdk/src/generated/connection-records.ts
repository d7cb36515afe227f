// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { ConnectionStatus } from './values.ts';

/** An account for a service that agents use. */
export interface ConnectionRecord {
  id: string;
  /** The service, by the name that `agent.yaml` has for it. */
  service: string;
  /** Whose account it is; absent for one of the tenant. */
  end_user?: string | undefined;
  status: ConnectionStatus;
  /** Why it is expired. `refresh_refused`: the token endpoint refused it. `refresh_lost`: a refresh got no answer, so its refresh token may be used up. `rejected`: the service refused it. `no_refresh`: it ended, and there is nothing to refresh it with. `unreadable`: it was sealed with another master key. */
  status_reason?:
    | 'refresh_refused'
    | 'refresh_lost'
    | 'rejected'
    | 'no_refresh'
    | 'unreadable'
    | undefined;
  /** Counts the changes of the secret. */
  version: number;
  auth: {
    type: 'bearer' | 'header' | 'oauth';
    /** The header of `header`. */
    name?: string | undefined;
    /** When the access token of `oauth` ends. */
    expires_at?: string | undefined;
    scope?: string | undefined;
    token_endpoint?: string | undefined;
    client_id?: string | undefined;
    /** Whether the server refreshes the token of `oauth`. */
    refreshes?: boolean | undefined;
  };
  /** To the minute. */
  last_used_at?: string | undefined;
  /** Id of the client or the person. */
  created_by: string;
  /** Name of the client, or name or else email address of the person, as it is now. */
  created_by_name?: string | undefined;
  created_at: string;
  updated_at: string;
}

/** An account that the agent of a session uses. */
export interface SessionConnectionRecord {
  /** The service, by the name that `agent.yaml` has for it. */
  service: string;
  /** Whose account the agent uses: that of the tenant, or that of the end user of the session. */
  owner: 'tenant' | 'end_user';
  /** Whether no run starts without it. */
  required: boolean;
  /** `expired`: the account exists, but has to be connected again before it can be used. `missing`: there is no account. */
  status: 'connected' | 'expired' | 'missing';
  status_reason?:
    | 'refresh_refused'
    | 'refresh_lost'
    | 'rejected'
    | 'no_refresh'
    | 'unreadable'
    | undefined;
  /** The connection that a run would use now. */
  connection_id?: string | undefined;
}

/** A link by which a user connects an account. */
export interface BegunConnection {
  /** The page of the service, for the browser of this user. */
  connect_url: string;
  /** Until when the account must be connected. */
  expires_at: string;
}
