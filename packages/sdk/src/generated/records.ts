// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type {
  Json,
  JsonObject,
  SessionStatus,
  RunStatus,
  RunErrorCode,
  InteractionKind,
  InteractionStatus,
  Decision,
  FileStatus,
  Scope,
  Profile,
  ClientStatus,
  CredentialStatus,
  TenantStatus,
  AttachmentState,
} from './values.ts';

/** A tenant that the caller can access, with its organization. */
export interface WorkspaceRecord {
  id: string;
  organization_id: string;
  organization_name: string;
  tenant: {
    tenant_id: string;
    display_name: string;
    status: TenantStatus;
    attachment_state: AttachmentState;
  };
}

/** The caller that the access token identifies. */
export interface CallerRecord {
  /** Record id of the automation client. */
  subject: string;
  kind: 'automation_client';
  /** OAuth client id. */
  client_id: string;
  organization_id: string;
  tenant_id: string;
  profile: Profile;
  /** Current scopes of this token. */
  scopes: Scope[];
  file_attachments_enabled: boolean;
  expires_at: string;
}

/** An agent that is deployed and enabled for the tenant. */
export interface AgentRecord {
  name: string;
  description: string;
  framework: string;
  model?: string | undefined;
  approval_required_tools: string[];
  session_files_supported: boolean;
}

/** A conversation with one agent. */
export interface SessionRecord {
  id: string;
  agent_name: string;
  status: SessionStatus;
  status_reason?: string | undefined;
  /** Whether this session supports the file operations. */
  session_files_supported: boolean;
  current_run_id?: string | undefined;
  pending_interactions: number;
  created_at: string;
  updated_at: string;
  stopped_at?: string | undefined;
  ended_at?: string | undefined;
  expires_at?: string | undefined;
}

/** One invocation of the agent inside a session. */
export interface RunRecord {
  id: string;
  session_id: string;
  agent_name: string;
  status: RunStatus;
  /** The input as it was sent. */
  input: JsonObject;
  /** The complete answer, after the run has ended. */
  output_text?: string | undefined;
  error_code?: RunErrorCode | undefined;
  error_message?: string | undefined;
  /** Position in the queue of the session; 1 is next. Only while queued. */
  queue_position?: number | undefined;
  pending_interactions: number;
  /** One more than the number of workers that the run has lost. */
  attempt: number;
  last_event_id?: string | undefined;
  created_at: string;
  started_at?: string | undefined;
  ended_at?: string | undefined;
  cancel_requested_at?: string | undefined;
  usage?:
    | {
        input_tokens: number;
        output_tokens: number;
      }
    | undefined;
}

/** A question or a permission request of an agent. */
export interface InteractionRecord {
  /** The durable key; use it to answer. */
  interaction_key: string;
  kind: InteractionKind;
  status: InteractionStatus;
  session_id: string;
  run_id: string;
  /** The same as in the events. Do not use it to answer. */
  request_id: string;
  tool_name?: string | undefined;
  tool_input?: Json | undefined;
  question?: string | undefined;
  options?:
    | Array<{
        label: string;
        description?: string | undefined;
      }>
    | undefined;
  multiple?: boolean | undefined;
  /** A tool call that was begun before the worker died. It is not known whether it was carried out. */
  about?:
    | {
        kind: 'call_in_doubt';
        tool_name: string;
        tool_input: Json;
        begun_at: string;
      }
    | undefined;
  decision?: Decision | undefined;
  updated_input?: JsonObject | undefined;
  answer?: string | string[] | undefined;
  declined?: true | undefined;
  message?: string | undefined;
  answered_by?: string | undefined;
  created_at: string;
  answered_at?: string | undefined;
  applied_at?: string | undefined;
  expires_at?: string | undefined;
}

/** A file attached to a session. */
export interface FileRecord {
  id: string;
  session_id: string;
  name: string;
  content_type: string;
  size_bytes?: number | undefined;
  sha256?: string | undefined;
  status: FileStatus;
  created_at: string;
}

/** A revocation of access whose cleanup continues. */
export interface PendingOperation {
  kind: 'change_permissions' | 'disable_client' | 'delete_client' | 'revoke_credential';
  requested_at: string;
}

/** An automation client: a machine identity of the organization. */
export interface ClientRecord {
  /** Record id, used in paths. */
  id: string;
  /** OAuth client id, used to obtain tokens. */
  client_id: string;
  name: string;
  description?: string | undefined;
  profile: Profile;
  scopes: Scope[];
  /** The only tenants that the client can access; absent: all. */
  tenant_ids?: string[] | undefined;
  status: ClientStatus;
  /** Send it with every update. */
  version: number;
  pending_operation?: PendingOperation | undefined;
  created_at: string;
  updated_at: string;
  created_by: string;
}

/** Metadata of a client secret, without the secret. */
export interface CredentialRecord {
  id: string;
  label: string;
  status: CredentialStatus;
  /** The last four characters of the secret. */
  secret_hint: string;
  pending_operation?: PendingOperation | undefined;
  created_at: string;
  expires_at: string;
  revoked_at?: string | undefined;
  last_used_at?: string | undefined;
}

/** The permission profiles and scopes that clients can have. */
export interface ProfileCatalog {
  catalog_version: number;
  profiles: Array<{
    name: Profile;
    description: string;
    scopes: Scope[];
  }>;
  scopes: Array<{
    name: Scope;
    description: string;
    /** Ids of the operations that it allows. */
    operations: string[];
  }>;
}

/** An isolated part of an organization, with its own sessions. */
export interface TenantRecord {
  id: string;
  organization_id: string;
  display_name: string;
  mode: string;
  status: TenantStatus;
  attachment_state: AttachmentState;
  status_reason?: string | undefined;
  /** Number of automation clients without `tenant_ids`: they can access this tenant once it is usable, and then have to name a tenant. Only where one tenant is created or read. */
  unbound_clients?: number | undefined;
  created_at: string;
  updated_at: string;
}

/** A short-lived access token. */
export interface TokenResponse {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  /** Space-separated scopes. */
  scope: string;
}

export interface IssuedClient {
  client: ClientRecord;
  credential: CredentialRecord;
  client_id: string;
  /** Shown only in this response. */
  client_secret: string;
}

export interface ClientWithCredentials {
  client: ClientRecord;
  credentials: CredentialRecord[];
}

export interface IssuedCredential {
  credential: CredentialRecord;
  client_id: string;
  /** Shown only in this response. */
  client_secret: string;
}
