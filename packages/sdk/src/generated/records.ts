// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type {
  Json,
  JsonObject,
  SessionStatus,
  RunStatus,
  RunErrorCode,
  InteractionKind,
  InteractionStatus,
  NoticeType,
  Decision,
  FileStatus,
  Scope,
  Profile,
  MemberRole,
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
  /** Record id of the automation client (`cli_…`) or of the person (`usr_…`). */
  subject: string;
  kind: 'automation_client' | 'person';
  /** OAuth client id. Only of an automation client. */
  client_id?: string | undefined;
  /** Only of a token for one session: the session. */
  session_id?: string | undefined;
  /** Only of a token for one session: the user it was created for. */
  end_user?: string | undefined;
  organization_id: string;
  tenant_id: string;
  /** Only of an automation client. */
  profile?: Profile | undefined;
  /** Only of a person. */
  role?: MemberRole | undefined;
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
  /** JSON Schema of the input of a run; absent for an agent with a problem. */
  input_schema?: JsonObject | undefined;
  /** JSON Schema of the output of a run, if the agent declares one. */
  output_schema?: JsonObject | undefined;
  /** The version of the agent: SHA-256, in hex, of the files that decide what it does. */
  digest?: string | undefined;
  /** Services whose accounts it uses, if it uses any. */
  connections?:
    | Array<{
        /** The service, by the name that `agent.yaml` has for it. */
        service: string;
        owner: 'tenant' | 'end_user';
        required: boolean;
      }>
    | undefined;
  /** The agents that it may call, if any. */
  calls?: string[] | undefined;
  /** Environment variables that `agent.yaml` refers to and the server does not have. Runs that need one fail. */
  missing_variables?: string[] | undefined;
  /** Why its folder cannot be loaded. Such an agent cannot be invoked. */
  problem?: string | undefined;
}

/** An agent with its input, tools and skills. */
export interface AgentDetails {
  name: string;
  description: string;
  framework: string;
  model?: string | undefined;
  approval_required_tools: string[];
  session_files_supported: boolean;
  /** JSON Schema of the input of a run. */
  input_schema: JsonObject;
  /** JSON Schema of the output of a run, if the agent declares one. */
  output_schema?: JsonObject | undefined;
  /** The version of the agent: SHA-256, in hex, of the files that decide what it does. */
  digest?: string | undefined;
  /** Services whose accounts it uses, if it uses any. */
  connections?:
    | Array<{
        /** The service, by the name that `agent.yaml` has for it. */
        service: string;
        owner: 'tenant' | 'end_user';
        required: boolean;
      }>
    | undefined;
  /** The agents that it may call, if any. */
  calls?: string[] | undefined;
  /** Environment variables that `agent.yaml` refers to and the server does not have. Runs that need one fail. */
  missing_variables?: string[] | undefined;
  /** Why its folder cannot be loaded. Such an agent cannot be invoked. */
  problem?: string | undefined;
  /** The tools it may use; `*` stands for any characters. */
  tools: string[];
  skills: string[];
  /** What happens to a new run while another run of the session executes. */
  on_busy: 'queue' | 'reject';
  loaded_at?: string | undefined;
}

/** A conversation with one agent. */
export interface SessionRecord {
  id: string;
  agent_name: string;
  status: SessionStatus;
  status_reason?: string | undefined;
  /** Given at create or later; else the first words of the first prompt. */
  title?: string | undefined;
  /** Labels by key. */
  labels: Record<string, string>;
  /** The automation client or the person that made it. */
  created_by?:
    | {
        kind: 'client' | 'person';
        id: string;
        /** Name of the client, or name or else email address of the person, as it is now. */
        name?: string | undefined;
      }
    | undefined;
  /** The user whose connections its runs use. */
  end_user?: string | undefined;
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
  /** The version of the agent that executes the run, or executed it last. Absent while it is queued. */
  agent_digest?: string | undefined;
  status: RunStatus;
  /** The input as it was sent. */
  input: JsonObject;
  /** The complete answer, after the run has ended. */
  output_text?: string | undefined;
  /** The output of the agent, a JSON value: of a completed run whose agent gave one. It fits the `output_schema` of the agent, if there is one. */
  output?: Json | undefined;
  error_code?: RunErrorCode | undefined;
  error_message?: string | undefined;
  /** Position in the queue of the session; 1 is next. Only while queued. */
  queue_position?: number | undefined;
  /** Labels by key. */
  labels: Record<string, string>;
  /** The automation client or the person that made it. */
  created_by?:
    | {
        kind: 'client' | 'person';
        id: string;
        /** Name of the client, or name or else email address of the person, as it is now. */
        name?: string | undefined;
      }
    | undefined;
  pending_interactions: number;
  /** Times, messages and called runs that the run waits for. */
  open_waits?: number | undefined;
  /** The oldest 20 things that it waits for. Absent in lists. */
  waiting_on?: OpenWaitRecord[] | undefined;
  /** The run that called it. Absent if no run has. */
  parent_run_id?: string | undefined;
  /** The run that no run has called, above this one. */
  root_run_id?: string | undefined;
  /** One more than the number of workers that the run has lost. */
  attempt: number;
  /** Since when the interrupted run has been waiting to continue. */
  interrupted_at?: string | undefined;
  last_event_id?: string | undefined;
  /** The trace of the run, over all its legs. Absent where the server exports no traces. */
  trace_id?: string | undefined;
  created_at: string;
  started_at?: string | undefined;
  ended_at?: string | undefined;
  cancel_requested_at?: string | undefined;
  /** Who asked to cancel it, or stopped its session. */
  cancelled_by?:
    | {
        kind: 'client' | 'person';
        id: string;
        /** Name of the client, or name or else email address of the person, as it is now. */
        name?: string | undefined;
      }
    | undefined;
  usage?:
    | {
        input_tokens: number;
        output_tokens: number;
        /** In millionths of `currency`: of the models that have a price, or as the agent reported it. */
        cost?: number | undefined;
        /** ISO 4217. */
        currency?: string | undefined;
        /** True if a model message was cut off by a cancellation or a lost worker, so that its usage is unknown. */
        is_partial?: boolean | undefined;
      }
    | undefined;
  /** The limits of the run, if any. */
  budget?:
    | {
        /** Input and output tokens together. */
        max_tokens?: number | undefined;
        /** In millionths of the currency. */
        max_cost?: number | undefined;
      }
    | undefined;
}

/** Something that a run waits for. */
export interface OpenWaitRecord {
  kind: 'timer' | 'signal' | 'run' | 'interaction';
  /** Given by the agent; of a called run its agent, of an interaction the tool, or `question`. */
  name: string;
  since: string;
  /** When it ends at the latest. Absent for a called run that may take any time. */
  until?: string | undefined;
  /** The interaction that needs a person. */
  interaction_key?: string | undefined;
  /** The called run. */
  child_run_id?: string | undefined;
  /** The session of the called run. */
  child_session_id?: string | undefined;
}

/** A message that was sent to a run. */
export interface SignalRecord {
  run_id: string;
  /** The name that the agent receives the message by. */
  name: string;
  /** `received`: the run has waited for it. `kept`: it does not wait for it yet. */
  status: 'received' | 'kept';
}

/** What one author says about a run under one key. */
export interface FeedbackRecord {
  /** What the feedback is about, such as `rating`. */
  key: string;
  /** A number of your own scale; thumbs are 1 and -1. */
  score?: number | undefined;
  /** A category. */
  value?: string | undefined;
  /** Words about the run. */
  comment?: string | undefined;
  /** Who gave the feedback. */
  author: {
    kind: 'person' | 'client' | 'end_user';
    /** Id of the person or the client; of an end user, the name that your product has for it, or the id of the session if its token names none. */
    id: string;
    /** Name of the client, or name or else email address of the person, as it is now. */
    name?: string | undefined;
  };
  created_at: string;
  updated_at: string;
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
  /** The rules that asked, the organization's first. */
  rules?:
    | Array<{
        source: 'organization' | 'agent';
        name: string;
        reason?: string | undefined;
      }>
    | undefined;
  /** Who may allow it. Absent: every caller that may answer. */
  approvers?:
    | {
        /** The lowest role of a person who may allow. */
        role: 'operator' | 'admin' | 'owner';
        /** How many people have to allow it. */
        people: number;
        /** Who started the run may not allow. */
        not_starter: boolean;
        /** Automation clients may allow, too. */
        clients: boolean;
        /** Session tokens may allow, too. */
        end_users: boolean;
      }
    | undefined;
  /** Who has allowed it, where more than one person has to. */
  approvals?:
    | Array<{
        by: string;
        /** Name of the client, or name or else email address of the person, as it is now. */
        by_name?: string | undefined;
        at: string;
      }>
    | undefined;
  /** Whether the caller may allow it now, of a pending permission. Of a question about a call in doubt: whether the caller may have the call run again. */
  can_allow?: boolean | undefined;
  /** How far an allow may be remembered for the rest of the session. */
  can_remember?: 'exact' | 'tool' | undefined;
  question?: string | undefined;
  options?:
    | Array<{
        label: string;
        description?: string | undefined;
      }>
    | undefined;
  multiple?: boolean | undefined;
  /** `call_in_doubt`: a tool call that started before the worker died and may or may not have completed. `workspace_behind`: the machine with the latest files of the session is gone. `connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected. */
  about?:
    | {
        kind: 'call_in_doubt' | 'workspace_behind' | 'connection_missing';
        tool_name?: string | undefined;
        tool_input?: Json | undefined;
        begun_at?: string | undefined;
        /** The first of the tool calls whose file changes are lost. */
        calls?:
          | Array<{
              tool_name: string;
              begun_at: string;
            }>
          | undefined;
        /** The service that is not connected. */
        service?: string | undefined;
        owner?: 'tenant' | 'end_user' | undefined;
        /** Where the end user connects it. */
        url?: string | undefined;
      }
    | undefined;
  decision?: Decision | undefined;
  updated_input?: JsonObject | undefined;
  answer?: string | string[] | undefined;
  declined?: true | undefined;
  message?: string | undefined;
  answered_by?: string | undefined;
  /** Name of the client, or name or else email address of the person, as it is now. */
  answered_by_name?: string | undefined;
  /** What decided, where no person and no client did. */
  decided_by?: 'rule' | 'memory' | 'expiry' | undefined;
  /** What the allow also allows for the rest of the session, until it is forgotten. */
  remembered?: 'exact' | 'tool' | undefined;
  created_at: string;
  answered_at?: string | undefined;
  applied_at?: string | undefined;
  expires_at?: string | undefined;
  /** Where no answer comes before `expires_at`, the call is denied and the run continues. Absent: the run fails. */
  on_expiry?: 'deny' | undefined;
}

/** One change in a tenant. */
export interface NoticeRecord {
  /** The number of the notice in the feed, without gaps. Send it as Last-Event-ID to continue after it. */
  id: string;
  /** What happened. Ignore unknown types: later versions add some. */
  type: NoticeType;
  session_id?: string | undefined;
  run_id?: string | undefined;
  created_at: string;
  /** Ids and states. Read the rest with the operation of the resource. */
  data: {
    agent_name?: string | undefined;
    /** Status of the run or of the session after the change. */
    status?:
      | 'queued'
      | 'running'
      | 'waiting'
      | 'cancelling'
      | 'completed'
      | 'failed'
      | 'cancelled'
      | 'idle'
      | 'stopping'
      | 'stopped'
      | 'terminated'
      | undefined;
    /** Labels of the run or of the session, if it has any. */
    labels?: Record<string, string> | undefined;
    /** The corresponding event in the log of the run. */
    run_event_id?: string | undefined;
    interaction_key?: string | undefined;
    kind?: InteractionKind | undefined;
    error_code?: RunErrorCode | undefined;
    feedback_key?: string | undefined;
    /** Score of the feedback, if it has one. */
    score?: number | undefined;
    author_kind?: 'person' | 'client' | 'end_user' | undefined;
    /** The feedback was deleted. */
    deleted?: true | undefined;
    budget_id?: string | undefined;
    /** The share of the budget that was reached. */
    percent?: number | undefined;
    webhook_id?: string | undefined;
    connection_id?: string | undefined;
    /** The service of the connection. */
    service?: string | undefined;
    /** Whose connection it is; absent for the tenant. */
    end_user?: string | undefined;
    schedule_id?: string | undefined;
    slot_at?: string | undefined;
    reason?: string | undefined;
  };
}

/** A run in a list over the whole tenant. */
export interface RunSummary {
  id: string;
  session_id: string;
  agent_name: string;
  /** The version of the agent that executes the run, or executed it last. Absent while it is queued. */
  agent_digest?: string | undefined;
  status: RunStatus;
  /** The first 200 characters of the prompt, in one line. */
  preview: string;
  /** Labels by key. */
  labels: Record<string, string>;
  /** The automation client or the person that made it. */
  created_by?:
    | {
        kind: 'client' | 'person';
        id: string;
        /** Name of the client, or name or else email address of the person, as it is now. */
        name?: string | undefined;
      }
    | undefined;
  error_code?: RunErrorCode | undefined;
  /** The run that called it. Absent if no run has. */
  parent_run_id?: string | undefined;
  pending_interactions: number;
  /** Times, messages and called runs that the run waits for. Absent while it executes. */
  open_waits?: number | undefined;
  /** The oldest 20 things that it waits for. Only in a list of called runs. */
  waiting_on?: OpenWaitRecord[] | undefined;
  created_at: string;
  started_at?: string | undefined;
  ended_at?: string | undefined;
  usage?:
    | {
        input_tokens: number;
        output_tokens: number;
        /** In millionths of `currency`: of the models that have a price, or as the agent reported it. */
        cost?: number | undefined;
        /** ISO 4217. */
        currency?: string | undefined;
        /** True if a model message was cut off by a cancellation or a lost worker, so that its usage is unknown. */
        is_partial?: boolean | undefined;
      }
    | undefined;
}

/** An interaction in a list over the whole tenant. */
export interface InteractionSummary {
  interaction_key: string;
  kind: InteractionKind;
  status: InteractionStatus;
  session_id: string;
  run_id: string;
  agent_name: string;
  /** Labels by key. */
  run_labels: Record<string, string>;
  /** The first words of the prompt of its run. */
  preview: string;
  /** The run that called its run. Absent where a client started it. */
  parent_run_id?: string | undefined;
  /** The agent of that run. */
  parent_agent_name?: string | undefined;
  tool_name?: string | undefined;
  /** The first 200 characters of the question. */
  question?: string | undefined;
  about?:
    | {
        kind: 'call_in_doubt' | 'workspace_behind' | 'connection_missing';
        tool_name?: string | undefined;
        begun_at?: string | undefined;
        /** The first of the tool calls whose file changes are lost. */
        calls?:
          | Array<{
              tool_name: string;
              begun_at: string;
            }>
          | undefined;
        /** The service that is not connected. */
        service?: string | undefined;
        owner?: 'tenant' | 'end_user' | undefined;
        /** Where the end user connects it. */
        url?: string | undefined;
      }
    | undefined;
  /** The rules that asked, the organization's first. */
  rules?:
    | Array<{
        source: 'organization' | 'agent';
        name: string;
        reason?: string | undefined;
      }>
    | undefined;
  /** Who may allow it. Absent: every caller that may answer. */
  approvers?:
    | {
        /** The lowest role of a person who may allow. */
        role: 'operator' | 'admin' | 'owner';
        /** How many people have to allow it. */
        people: number;
        /** Who started the run may not allow. */
        not_starter: boolean;
        /** Automation clients may allow, too. */
        clients: boolean;
        /** Session tokens may allow, too. */
        end_users: boolean;
      }
    | undefined;
  /** Who has allowed it, where more than one person has to. */
  approvals?:
    | Array<{
        by: string;
        /** Name of the client, or name or else email address of the person, as it is now. */
        by_name?: string | undefined;
        at: string;
      }>
    | undefined;
  /** Whether the caller may allow it now, of a pending permission. Of a question about a call in doubt: whether the caller may have the call run again. */
  can_allow?: boolean | undefined;
  /** What the call is about: the members of its input that tell most, such as path, subject, amount and command. Never JSON. */
  tool_input_preview?: string | undefined;
  decision?: Decision | undefined;
  answered_by?: string | undefined;
  /** Name of the client, or name or else email address of the person, as it is now. */
  answered_by_name?: string | undefined;
  created_at: string;
  answered_at?: string | undefined;
  expires_at?: string | undefined;
}

/** An interaction with its agent and the labels of its run. */
export interface InteractionInTenantRecord {
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
  /** The rules that asked, the organization's first. */
  rules?:
    | Array<{
        source: 'organization' | 'agent';
        name: string;
        reason?: string | undefined;
      }>
    | undefined;
  /** Who may allow it. Absent: every caller that may answer. */
  approvers?:
    | {
        /** The lowest role of a person who may allow. */
        role: 'operator' | 'admin' | 'owner';
        /** How many people have to allow it. */
        people: number;
        /** Who started the run may not allow. */
        not_starter: boolean;
        /** Automation clients may allow, too. */
        clients: boolean;
        /** Session tokens may allow, too. */
        end_users: boolean;
      }
    | undefined;
  /** Who has allowed it, where more than one person has to. */
  approvals?:
    | Array<{
        by: string;
        /** Name of the client, or name or else email address of the person, as it is now. */
        by_name?: string | undefined;
        at: string;
      }>
    | undefined;
  /** Whether the caller may allow it now, of a pending permission. Of a question about a call in doubt: whether the caller may have the call run again. */
  can_allow?: boolean | undefined;
  /** How far an allow may be remembered for the rest of the session. */
  can_remember?: 'exact' | 'tool' | undefined;
  question?: string | undefined;
  options?:
    | Array<{
        label: string;
        description?: string | undefined;
      }>
    | undefined;
  multiple?: boolean | undefined;
  /** `call_in_doubt`: a tool call that started before the worker died and may or may not have completed. `workspace_behind`: the machine with the latest files of the session is gone. `connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected. */
  about?:
    | {
        kind: 'call_in_doubt' | 'workspace_behind' | 'connection_missing';
        tool_name?: string | undefined;
        tool_input?: Json | undefined;
        begun_at?: string | undefined;
        /** The first of the tool calls whose file changes are lost. */
        calls?:
          | Array<{
              tool_name: string;
              begun_at: string;
            }>
          | undefined;
        /** The service that is not connected. */
        service?: string | undefined;
        owner?: 'tenant' | 'end_user' | undefined;
        /** Where the end user connects it. */
        url?: string | undefined;
      }
    | undefined;
  decision?: Decision | undefined;
  updated_input?: JsonObject | undefined;
  answer?: string | string[] | undefined;
  declined?: true | undefined;
  message?: string | undefined;
  answered_by?: string | undefined;
  /** Name of the client, or name or else email address of the person, as it is now. */
  answered_by_name?: string | undefined;
  /** What decided, where no person and no client did. */
  decided_by?: 'rule' | 'memory' | 'expiry' | undefined;
  /** What the allow also allows for the rest of the session, until it is forgotten. */
  remembered?: 'exact' | 'tool' | undefined;
  created_at: string;
  answered_at?: string | undefined;
  applied_at?: string | undefined;
  expires_at?: string | undefined;
  /** Where no answer comes before `expires_at`, the call is denied and the run continues. Absent: the run fails. */
  on_expiry?: 'deny' | undefined;
  agent_name: string;
  /** Labels by key. */
  run_labels: Record<string, string>;
  /** The first words of the prompt of its run. */
  preview: string;
  /** The run that called its run. Absent where a client started it. */
  parent_run_id?: string | undefined;
  /** The agent of that run. */
  parent_agent_name?: string | undefined;
}

/** Current activity in the tenant. 10000 means that many or more. */
export interface OverviewRecord {
  runs: {
    queued: number;
    running: number;
    waiting: number;
    cancelling: number;
  };
  pending_interactions: number;
  oldest_pending_at?: string | undefined;
  oldest_queued_at?: string | undefined;
  as_of: string;
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
  /** The tenants that the client can access (default: all). */
  tenant_ids?: string[] | undefined;
  status: ClientStatus;
  /** Send it with every update. */
  version: number;
  pending_operation?: PendingOperation | undefined;
  created_at: string;
  updated_at: string;
  created_by: string;
  /** Name of the client, or name or else email address of the person, as it is now. */
  created_by_name?: string | undefined;
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
  /** Number of automation clients without `tenant_ids`: they can access this tenant once it is usable, and then have to select a tenant. Present only when one tenant is created or read. */
  unbound_clients?: number | undefined;
  created_at: string;
  updated_at: string;
}

/** Owns tenants and automation clients. */
export interface OrganizationRecord {
  id: string;
  name: string;
  /** Role of the caller. */
  role: MemberRole;
  created_at: string;
  counts: {
    /** Tenants that are not offboarded. */
    tenants: number;
    clients: number;
    members: number;
  };
}

/** A person in an organization. */
export interface MemberRecord {
  user_id: string;
  /** What the person wants to be called. */
  name?: string | undefined;
  /** Absent when no issuer has verified one. */
  email?: string | undefined;
  role: MemberRole;
  /** When the person joined. */
  created_at: string;
}

/** An open invitation to the organization. */
export interface InvitationRecord {
  id: string;
  /** The role that the person gets. */
  role: MemberRole;
  /** Only the person with this address can accept. Absent: anyone who has the link. */
  email?: string | undefined;
  created_by: string;
  /** Name of the client, or name or else email address of the person, as it is now. */
  created_by_name?: string | undefined;
  created_at: string;
  expires_at: string;
}

/** The membership that an invitation gave. */
export interface AcceptedInvitation {
  organization_id: string;
  organization_name: string;
  user_id: string;
  /** The role that the person gets. */
  role: MemberRole;
}

/** Who did what, from where, by which request. */
export interface AuditRecord {
  /** Number in the chain of the organization. */
  seq: number;
  at: string;
  actor: {
    kind: 'user' | 'client' | 'operator' | 'system' | 'anonymous';
    /** Empty for an anonymous caller. */
    id: string;
    /** Name or else email address of a person, or name of a client, as it is now. */
    name?: string | undefined;
  };
  action: string;
  /** Id of the resource that was acted on. */
  object: string;
  outcome: 'done' | 'denied';
  address?: string | undefined;
  request_id?: string | undefined;
  details: JsonObject;
  /** Covers this row and the hash of the row before it. */
  hash: string;
}

/** Whether the hash chain of the audit log is intact. */
export interface AuditStatusRecord {
  rows: number;
  last_seq: number;
  /** Store it outside the database: it proves that no earlier row was changed. */
  last_hash: string;
  /** Rows that the server has checked. */
  verified_to_seq: number;
  /** Absent before the first check. */
  verified_at?: string | undefined;
  /** The first row that is wrong. Rows after it prove nothing. */
  problem?:
    | {
        seq: number;
        reason: string;
      }
    | undefined;
}

/** The person who is signed in, with their organizations. */
export interface MeRecord {
  user_id: string;
  /** What the person wants to be called. */
  name?: string | undefined;
  /** Absent when no issuer has verified one. */
  email?: string | undefined;
  memberships: Array<{
    organization_id: string;
    organization_name: string;
    role: MemberRole;
  }>;
}

/** The server and its limits. */
export interface SystemRecord {
  version: string;
  /** When the server that answered was started. */
  started_at: string;
  /** What agents can be built on, on the server that answered. */
  frameworks: Array<{
    name: string;
    ready: boolean;
    /** Why its agents cannot run. */
    reason?: string | undefined;
  }>;
  file_attachments_enabled: boolean;
  limits: {
    page_items: number;
    file_bytes: number;
    queued_runs_per_session: number;
    clients_per_organization: number;
    tenants_per_organization: number;
    /** Per client or person; 0 means no limit. */
    calls_per_minute: number;
  };
}

/** Tokens, costs and runs of one time range and group. */
export interface UsageRecord {
  /** Start of the hour or day, in UTC. Present with `bucket`. */
  start?: string | undefined;
  /** Present with `group_by`. Empty for runs that no client started. Of a label, its value. */
  group?: string | undefined;
  /** Runs that ended. This and the next four are absent when grouped by model. */
  runs?: number | undefined;
  /** Runs that completed. */
  completed?: number | undefined;
  /** Runs that failed. */
  failed?: number | undefined;
  /** Runs that were cancelled. */
  cancelled?: number | undefined;
  /** Time from start to end of these runs, waiting for people included. */
  run_seconds?: number | undefined;
  /** Including tokens read from a cache. */
  input_tokens: number;
  /** Including reasoning tokens. */
  output_tokens: number;
  cached_input_tokens: number;
  reasoning_tokens: number;
  /** In millionths of `currency`. Absent if nothing has a price. */
  cost?: number | undefined;
  /** ISO 4217. */
  currency?: string | undefined;
}

/** A limit for all runs of a scope in each period. */
export interface BudgetRecord {
  id: string;
  scope: {
    kind: 'tenant' | 'client' | 'agent' | 'session';
    id: string;
  };
  period: 'day' | 'month' | 'total';
  /** Input and output tokens together. */
  max_tokens?: number | undefined;
  /** In millionths of the currency. */
  max_cost?: number | undefined;
  /** ISO 4217. */
  currency?: string | undefined;
  /** In the current period, since the budget was set. */
  spent: {
    tokens: number;
    cost: number;
  };
  /** Start of the next period. Absent for `total`. */
  resets_at?: string | undefined;
  version: number;
  created_at: string;
  updated_at: string;
}

/** A short-lived access token. */
export interface TokenResponse {
  access_token: string;
  /** The kind of token, in an answer to a token exchange (RFC 8693). */
  issued_token_type?: string | undefined;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  /** Space-separated scopes. */
  scope: string;
  /** For an assistant: renews the token, once. */
  refresh_token?: string | undefined;
}

/** A short-lived access token that opens one session and nothing else. */
export interface SessionTokenRecord {
  token: string;
  token_type: 'Bearer';
  expires_at: string;
  /** Seconds. */
  expires_in: number;
  scopes: Scope[];
  session_id: string;
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

export interface IssuedInvitation {
  invitation: InvitationRecord;
  /** Shown only in this response. */
  secret: string;
  /** The link for the person. The secret follows the `#`, so no server log contains it. Absent when the console is turned off. */
  url?: string | undefined;
}
