// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type {
  Json,
  JsonObject,
  SessionStatus,
  StopMode,
  RunStatus,
  RunErrorCode,
  RunFilter,
  InteractionKind,
  InteractionFilter,
  NoticeType,
  Decision,
  ScheduleStatus,
  OverlapPolicy,
  MissedPolicy,
  WebhookType,
  DeliveryStatus,
  ConnectionStatus,
  Scope,
  Profile,
  MemberRole,
  ClientStatus,
  Order,
} from './values.ts';

/** Answers a permission request. */
export interface PermissionAnswer {
  decision: Decision;
  message?: string | undefined;
  /** Call the tool with this input instead of the requested one. Refused for agents whose framework cannot apply it (`acp`). */
  updated_input?: JsonObject | undefined;
  /** Allow the same again for the rest of the session, as far as `can_remember` says: `exact` with this input only, `tool` with every input. */
  remember?: 'exact' | 'tool' | undefined;
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

/** How requests to the service are authorized. */
export type ConnectionAuth =
  | {
      /** Sent as `Authorization: Bearer …`. */
      type: 'bearer';
      /** Write-only: no answer has it. */
      token: string;
    }
  | {
      /** Sent as a header of this name. */
      type: 'header';
      name: string;
      /** Write-only: no answer has it. */
      value: string;
    }
  | {
      /** Sent as `Authorization: Bearer …`, and refreshed. */
      type: 'oauth';
      /** Write-only: no answer has it. */
      access_token: string;
      /** When the access token ends; without it, never. */
      expires_at?: string | undefined;
      /** Write-only: no answer has it. */
      refresh_token?: string | undefined;
      /** Where the refresh token is exchanged: an https URL of a public address. */
      token_endpoint?: string | undefined;
      client_id?: string | undefined;
      /** Write-only: no answer has it. */
      client_secret?: string | undefined;
      scope?: string | undefined;
    };

export interface StopSession {
  mode?: StopMode | undefined;
  reason?: string | undefined;
}

export interface CreateSessionToken {
  /** Default: those of these scopes that the caller has, without `connections:read` and `connections:write`. */
  scopes?:
    | ReadonlyArray<
        | 'sessions:read'
        | 'runs:read'
        | 'runs:write'
        | 'feedback:write'
        | 'interactions:read'
        | 'interactions:write'
        | 'files:read'
        | 'files:write'
        | 'connections:read'
        | 'connections:write'
      >
    | undefined;
  /** How long the token is valid. */
  expires_in_seconds?: number | undefined;
  /** The user of your product that the token is for, by a name of your own. The audit rows of the token and of its answers have it. */
  end_user?: string | undefined;
}

export interface CancelRun {
  reason?: string | undefined;
}

export interface SignalRun {
  /** The name that the agent receives the message by. */
  name: string;
  /** Any JSON value; null if absent. */
  data?: Json | undefined;
  /** Makes a retry with the same body safe: it returns the first result. */
  idempotency_key?: string | undefined;
}

export interface UpdateRun {
  /** Your own names, such as a ticket or a customer: at most 16, keys of a-z, 0-9, `_`, `.` and `-`, values of at most 512 characters. They are merged by key; null removes one. */
  labels: Readonly<Record<string, string | null>>;
}

export interface PutFeedback {
  /** A number of your own scale; thumbs are 1 and -1. */
  score?: number | undefined;
  /** A category. */
  value?: string | undefined;
  /** Words about the run. */
  comment?: string | undefined;
  /** The user of your product for whom an automation client speaks: the same author as that user with a session token. Others may not send it. */
  end_user?: string | undefined;
}

export interface PutSessionConnection {
  auth?: ConnectionAuth | undefined;
  /** From the query of the return URL. */
  ticket?: string | undefined;
}

export interface BeginConnection {
  /** A page of the console, or of your product: its origin is one of `CONVOKE_CORS_ORIGINS`. */
  return_url: string;
}

export interface UpdateSession {
  title?: string | null | undefined;
  /** Your own names, such as a ticket or a customer: at most 16, keys of a-z, 0-9, `_`, `.` and `-`, values of at most 512 characters. They are merged by key; null removes one. */
  labels?: Readonly<Record<string, string | null>> | undefined;
}

export interface PrepareFile {
  name: string;
  content_type?: string | undefined;
  size_bytes?: number | undefined;
  sha256?: string | undefined;
  /** Makes a retry with the same body safe: it returns the first result. */
  idempotency_key?: string | undefined;
}

export interface CreateSchedule {
  name: string;
  /** Five fields: minute, hour, day of the month, month, day of the week. Each takes `*`, numbers, ranges, lists and steps; months and days also take English names (`JAN`, `MON`). */
  cron: string;
  /** An IANA time zone. The pattern is read in local time there. */
  time_zone?: string | undefined;
  /** The input that the agent declares in its `input_schema`: a `prompt` where it has none. `files`, the ids of attached files, for agents that accept files. */
  input: JsonObject;
  /** What to do at a slot if the last run has not ended: skip the slot, or queue another run. */
  overlap?: OverlapPolicy | undefined;
  /** After slots were missed: start one run for the newest of them, or none. */
  missed?: MissedPolicy | undefined;
  /** Older missed slots start no run. */
  missed_within_seconds?: number | undefined;
  agent_name: string;
  /** The user of your product that the session is for, by a name of your own: agents use the connections of this user. A session that a person opens is for that person. */
  end_user?: string | undefined;
  /** A new session for each run, or one session for all runs. */
  session?:
    | {
        mode: 'new';
      }
    | {
        mode: 'keep';
        /** Absent: the first run creates the session. */
        session_id?: string | undefined;
      }
    | undefined;
  /** Your own names, such as a ticket or a customer: at most 16, keys of a-z, 0-9, `_`, `.` and `-`, values of at most 512 characters. */
  labels?: Readonly<Record<string, string>> | undefined;
  /** Makes a retry with the same body safe: it returns the first result. */
  idempotency_key?: string | undefined;
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

export interface UpdateSchedule {
  /** The version that you read. */
  version: number;
  name?: string | undefined;
  /** Five fields: minute, hour, day of the month, month, day of the week. Each takes `*`, numbers, ranges, lists and steps; months and days also take English names (`JAN`, `MON`). */
  cron?: string | undefined;
  /** An IANA time zone. The pattern is read in local time there. */
  time_zone?: string | undefined;
  /** The input that the agent declares in its `input_schema`: a `prompt` where it has none. `files`, the ids of attached files, for agents that accept files. */
  input?: JsonObject | undefined;
  /** Your own names, such as a ticket or a customer: at most 16, keys of a-z, 0-9, `_`, `.` and `-`, values of at most 512 characters. They are merged by key; null removes one. */
  labels?: Readonly<Record<string, string | null>> | undefined;
  /** What to do at a slot if the last run has not ended: skip the slot, or queue another run. */
  overlap?: OverlapPolicy | undefined;
  /** After slots were missed: start one run for the newest of them, or none. */
  missed?: MissedPolicy | undefined;
  /** Older missed slots start no run. */
  missed_within_seconds?: number | undefined;
}

export interface SetBudget {
  scope: {
    kind: 'tenant' | 'client' | 'agent' | 'session';
    /** Id of the tenant, client or session, or name of the agent. */
    id: string;
  };
  /** Days and months are those of UTC; `total` never resets. */
  period: 'day' | 'month' | 'total';
  /** Input and output tokens together. */
  max_tokens?: number | undefined;
  /** In millionths of the currency. */
  max_cost?: number | undefined;
  /** The version that you read before; absent for a new budget. */
  version?: number | undefined;
}

export interface CreateWebhook {
  /** An https URL of a public address. The operator can allow others. */
  url: string;
  description?: string | undefined;
  /** The notices to send; `*` for all. */
  types?: ReadonlyArray<WebhookType> | undefined;
  /** Only notices about these agents (default: all). */
  agent_names?: ReadonlyArray<string> | undefined;
  /** Only notices about runs and sessions with all of these labels (default: all). */
  labels?: Readonly<Record<string, string>> | undefined;
  /** Makes a retry with the same body safe: it returns the first result. */
  idempotency_key?: string | undefined;
}

export interface UpdateWebhook {
  /** The version that you read. */
  version: number;
  /** An https URL of a public address. The operator can allow others. */
  url?: string | undefined;
  description?: string | undefined;
  /** The notices to send; `*` for all. */
  types?: ReadonlyArray<WebhookType> | undefined;
  /** Only notices about these agents (default: all). */
  agent_names?: ReadonlyArray<string> | undefined;
  /** Only notices about runs and sessions with all of these labels (default: all). */
  labels?: Readonly<Record<string, string>> | undefined;
  status?: ClientStatus | undefined;
}

export interface PutConnection {
  /** The user of your product whose account it is. Without it the connection is of the tenant. */
  end_user?: string | undefined;
  auth: ConnectionAuth;
}

export interface CreateClient {
  name: string;
  description?: string | undefined;
  profile: Profile;
  /** Required with `profile: custom`; not allowed otherwise. */
  scopes?: ReadonlyArray<Scope> | undefined;
  /** The only tenants that the client can access. Without it the client can access all tenants of the organization, including future ones. */
  tenant_ids?: ReadonlyArray<string> | undefined;
  expires_in_days?: number | undefined;
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

export interface UpdateMember {
  role: MemberRole;
}

export interface CreateInvitation {
  role: MemberRole;
  /** If given, only the person with this address can accept. */
  email?: string | undefined;
}

export interface SetRules {
  /** The version that you read before; 0 for the first document. */
  version: number;
  rules: ReadonlyArray<{
    name: string;
    tools: ReadonlyArray<string>;
    when?:
      | ReadonlyArray<{
          path: string;
          eq?: string | number | boolean | null | undefined;
          ne?: string | number | boolean | null | undefined;
          in?: ReadonlyArray<string | number | boolean | null> | undefined;
          gt?: number | undefined;
          gte?: number | undefined;
          lt?: number | undefined;
          lte?: number | undefined;
          like?: string | undefined;
          present?: boolean | undefined;
        }>
      | undefined;
    effect: 'allow' | 'ask' | 'deny';
    reason?: string | undefined;
    observe?: boolean | undefined;
    approvers?:
      | {
          role?: 'operator' | 'admin' | 'owner' | undefined;
          people?: number | undefined;
          not_starter?: boolean | undefined;
          clients?: boolean | undefined;
          end_users?: boolean | undefined;
        }
      | undefined;
    remember?: 'never' | 'exact' | 'tool' | undefined;
    wait_hours?: number | undefined;
    on_expiry?: 'fail' | 'deny' | undefined;
    agents?: ReadonlyArray<string> | undefined;
    tenants?: ReadonlyArray<string> | undefined;
  }>;
}

export interface TryRules {
  rules: ReadonlyArray<{
    name: string;
    tools: ReadonlyArray<string>;
    when?:
      | ReadonlyArray<{
          path: string;
          eq?: string | number | boolean | null | undefined;
          ne?: string | number | boolean | null | undefined;
          in?: ReadonlyArray<string | number | boolean | null> | undefined;
          gt?: number | undefined;
          gte?: number | undefined;
          lt?: number | undefined;
          lte?: number | undefined;
          like?: string | undefined;
          present?: boolean | undefined;
        }>
      | undefined;
    effect: 'allow' | 'ask' | 'deny';
    reason?: string | undefined;
    observe?: boolean | undefined;
    approvers?:
      | {
          role?: 'operator' | 'admin' | 'owner' | undefined;
          people?: number | undefined;
          not_starter?: boolean | undefined;
          clients?: boolean | undefined;
          end_users?: boolean | undefined;
        }
      | undefined;
    remember?: 'never' | 'exact' | 'tool' | undefined;
    wait_hours?: number | undefined;
    on_expiry?: 'fail' | 'deny' | undefined;
    agents?: ReadonlyArray<string> | undefined;
    tenants?: ReadonlyArray<string> | undefined;
  }>;
  /** Calls of runs that were started since then; by default the last 7 days. */
  since?: string | undefined;
  /** Calls of this tenant only. */
  tenant_id?: string | undefined;
  /** `next_cursor` of the page before, with the same draft; opaque. */
  cursor?: string | undefined;
}

export interface AuditQuery {
  /** Only this action. */
  action?: string | undefined;
  /** Only actions of this person or client. */
  actor_id?: string | undefined;
  /** Only actions on this resource. */
  object?: string | undefined;
  outcome?: 'done' | 'denied' | undefined;
  /** Not before this time. */
  from?: string | undefined;
  /** Before this time. */
  to?: string | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface AgentsQuery {
  /** Also list agents whose folder cannot be loaded, with the reason. */
  include?: 'broken' | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface PageQuery {
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
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
  /** Has this label, as `key:value`. Repeat it for several: all must match. */
  label?: ReadonlyArray<string> | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface RunsQuery {
  /** Runs with this status. */
  status?: RunStatus | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface InteractionsQuery {
  /** Interactions with this status, or all. */
  status?: InteractionFilter | undefined;
  /** Only allows that the session remembers. They are answered: set `status`, too. */
  remembered?: true | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface SchedulesQuery {
  /** Schedules with this status. */
  status?: ScheduleStatus | undefined;
  /** Schedules of this agent. */
  agent_name?: string | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface DeliveriesQuery {
  /** Deliveries with this status. */
  status?: DeliveryStatus | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface ConnectionsQuery {
  /** The service, by the name that `agent.yaml` has for it. */
  service?: string | undefined;
  /** Only those of this end user. */
  end_user?: string | undefined;
  /** Connections with this status. */
  status?: ConnectionStatus | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface ConnectionOwner {
  /** The user of your product whose account it is. Without it the connection is of the tenant. */
  end_user?: string | undefined;
}

export interface EventsQuery {
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
}

export interface FeedQuery {
  /** Notices of these types (default: all). Repeat the parameter for several. */
  types?: ReadonlyArray<NoticeType> | undefined;
  /** Where to start without Last-Event-ID: at the oldest notice available, or after the newest. The id of the newest comes first, in a comment frame or as `last_event_id`. */
  from?: 'oldest' | 'newest' | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
}

export interface UsageQuery {
  /** Start of the range, rounded down to the hour or day. Default: 30 days before `to`. */
  from?: string | undefined;
  /** End of the range. Default: now. */
  to?: string | undefined;
  /** One row per hour or day. Without it, one row for the whole range. */
  bucket?: 'hour' | 'day' | undefined;
  /** One row per value, or per value of a label. */
  group_by?: 'agent' | 'model' | 'client' | 'session' | `label:${string}` | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
}

export interface OrganizationUsageQuery {
  /** Start of the range, rounded down to the hour or day. Default: 30 days before `to`. */
  from?: string | undefined;
  /** End of the range. Default: now. */
  to?: string | undefined;
  /** One row per hour or day. Without it, one row for the whole range. */
  bucket?: 'hour' | 'day' | undefined;
  /** One row per value, or per value of a label. */
  group_by?: 'agent' | 'model' | 'client' | 'tenant' | `label:${string}` | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
}

export interface TenantRunsQuery {
  /** Runs with one of these statuses; `active` and `ended` are groups. */
  status?: ReadonlyArray<RunFilter> | undefined;
  /** Runs of this agent. */
  agent_name?: string | undefined;
  /** Runs of this version of an agent: its first 8 digits, or more. */
  agent_digest?: string | undefined;
  /** Has this label, as `key:value`. Repeat it for several: all must match. */
  label?: ReadonlyArray<string> | undefined;
  /** Runs that this one has called, or that they have called, each with what it waits for. */
  ancestor_run_id?: string | undefined;
  /** Runs that failed so. */
  error_code?: RunErrorCode | undefined;
  /** Runs created at this time or later. */
  created_after?: string | undefined;
  /** Runs created before this time. */
  created_before?: string | undefined;
  /** Runs whose preview contains this text, ignoring case. */
  q?: string | undefined;
  /** Runs that were given feedback under this key. */
  feedback?: string | undefined;
  /** With `feedback`: some score of that key is this or more. */
  score_min?: number | undefined;
  /** With `feedback`: some score of that key is this or less. */
  score_max?: number | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}

export interface TenantInteractionsQuery {
  /** Interactions with this status, or all. */
  status?: InteractionFilter | undefined;
  /** Only permissions or questions. */
  kind?: InteractionKind | undefined;
  /** Interactions of this agent. */
  agent_name?: string | undefined;
  /** Only pending ones that the caller may allow or answer: not those that wait for another person. */
  can_allow?: true | undefined;
  /** The run has this label, as `key:value`. Repeat it for several: all must match. */
  label?: ReadonlyArray<string> | undefined;
  /** Maximum number of items in a page. A page of large items ends earlier, at 8 MiB. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page; opaque. */
  cursor?: string | undefined;
  /** Sort direction. */
  order?: Order | undefined;
}
