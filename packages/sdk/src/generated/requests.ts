// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type {
  JsonObject,
  SessionStatus,
  StopMode,
  RunStatus,
  InteractionFilter,
  Decision,
  Scope,
  Profile,
  ClientStatus,
  Order,
} from './values.ts';

/** Answers a permission request. */
export interface PermissionAnswer {
  decision: Decision;
  message?: string | undefined;
  /** Call the tool with this input instead of the requested one. Refused for agents whose framework cannot apply it (`acp`). */
  updated_input?: JsonObject | undefined;
}

/** Answers a question. */
export interface QuestionReply {
  answer: string | ReadonlyArray<string>;
}

/** Declines to answer a question. */
export interface QuestionDeclined {
  declined: true;
  message?: string | undefined;
}

export interface StopSession {
  mode?: StopMode | undefined;
  reason?: string | undefined;
}

export interface CancelRun {
  reason?: string | undefined;
}

export interface PrepareFile {
  name: string;
  content_type?: string | undefined;
  size_bytes?: number | undefined;
  sha256?: string | undefined;
}

export interface CreateClient {
  name: string;
  description?: string | undefined;
  profile: Profile;
  /** Required with `profile: custom`; not allowed otherwise. */
  scopes?: ReadonlyArray<Scope> | undefined;
  /** The only tenants that the client can access. Without it the client can access all tenants of the organization, also those that are created later. */
  tenant_ids?: ReadonlyArray<string> | undefined;
  expires_in_days?: number | undefined;
}

export interface UpdateClient {
  /** The version that you read before. */
  version: number;
  name?: string | undefined;
  description?: string | undefined;
  profile?: Profile | undefined;
  /** Required with `profile: custom`; not allowed otherwise. */
  scopes?: ReadonlyArray<Scope> | undefined;
  status?: ClientStatus | undefined;
}

export interface AddCredential {
  label: string;
  expires_in_days?: number | undefined;
}

export interface CreateTenant {
  display_name: string;
  mode: string;
}

export interface OffboardTenant {
  /** The exact id of the tenant. */
  confirm: string;
}

export interface PageQuery {
  /** Maximum number of items in a page. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface SessionsQuery {
  /** Sessions with this status. */
  status?: SessionStatus | undefined;
  /** Sessions with this agent. */
  agent_name?: string | undefined;
  /** Maximum number of items in a page. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface RunsQuery {
  /** Runs with this status. */
  status?: RunStatus | undefined;
  /** Maximum number of items in a page. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface InteractionsQuery {
  /** Interactions with this status, or all. */
  status?: InteractionFilter | undefined;
  /** Maximum number of items in a page. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface EventsQuery {
  /** Maximum number of items in a page. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
}
