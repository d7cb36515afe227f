// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

/** A value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** An object whose members the API does not declare: an agent's input, a tool's input, a payload. */
export type JsonObject = { readonly [member: string]: Json | undefined };

export type SessionStatus =
  | 'idle'
  | 'running'
  | 'waiting'
  | 'stopping'
  | 'stopped'
  | 'failed'
  | 'terminated';

export type StopMode = 'suspend' | 'terminate';

export type RunStatus =
  | 'queued'
  | 'running'
  | 'waiting'
  | 'cancelling'
  | 'completed'
  | 'failed'
  | 'cancelled';

export type RunErrorCode =
  | 'agent_error'
  | 'model_error'
  | 'tool_error'
  | 'run_timeout'
  | 'interaction_expired'
  | 'worker_lost'
  | 'tool_in_doubt'
  | 'sandbox_unavailable'
  | 'budget_exceeded'
  | 'output_invalid'
  | 'connection_missing'
  | 'internal_error';

export type RunFilter =
  | 'queued'
  | 'running'
  | 'waiting'
  | 'cancelling'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'active'
  | 'ended';

export type InteractionKind = 'permission' | 'question';

export type InteractionStatus = 'pending' | 'answered' | 'expired' | 'cancelled';

export type InteractionFilter = 'pending' | 'answered' | 'expired' | 'cancelled' | 'all';

export type InterruptionReason = 'drained' | 'worker_lost';

export type NoticeType =
  | 'run_queued'
  | 'run_started'
  | 'run_waiting'
  | 'interaction_answered'
  | 'interaction_approved'
  | 'run_interrupted'
  | 'run_resumed'
  | 'run_completed'
  | 'run_cancelled'
  | 'run_failed'
  | 'run_feedback'
  | 'session_created'
  | 'session_stopped'
  | 'session_ended'
  | 'budget_reached'
  | 'webhook_disabled'
  | 'connection_expired'
  | 'schedule_skipped';

export type Decision = 'allow' | 'deny';

export type FileStatus = 'pending' | 'ready';

export type ScheduleStatus = 'active' | 'paused';

export type OverlapPolicy = 'skip' | 'queue';

export type MissedPolicy = 'once' | 'skip';

export type SessionMode = 'new' | 'keep';

export type FireOutcome = 'started' | 'skipped' | 'refused';

export type WebhookType =
  | '*'
  | 'run_queued'
  | 'run_started'
  | 'run_waiting'
  | 'interaction_answered'
  | 'interaction_approved'
  | 'run_interrupted'
  | 'run_resumed'
  | 'run_completed'
  | 'run_cancelled'
  | 'run_failed'
  | 'run_feedback'
  | 'session_created'
  | 'session_stopped'
  | 'session_ended'
  | 'budget_reached'
  | 'webhook_disabled'
  | 'connection_expired'
  | 'schedule_skipped';

export type DeliveryStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'blocked';

export type ConnectionStatus = 'connected' | 'expired';

export type Scope =
  | 'agents:read'
  | 'sessions:read'
  | 'sessions:write'
  | 'runs:read'
  | 'runs:write'
  | 'feedback:write'
  | 'interactions:read'
  | 'interactions:write'
  | 'files:read'
  | 'files:write'
  | 'schedules:read'
  | 'schedules:write'
  | 'webhooks:read'
  | 'webhooks:write'
  | 'connections:read'
  | 'connections:write'
  | 'usage:read'
  | 'agents:deploy';

export type Profile = 'observe' | 'invoke' | 'deploy' | 'custom';

export type MemberRole = 'owner' | 'admin' | 'operator' | 'viewer' | 'member';

export type ClientStatus = 'active' | 'disabled';

export type CredentialStatus = 'active' | 'revoked' | 'expired';

export type TenantStatus = 'provisioning' | 'active' | 'failed' | 'offboarding' | 'offboarded';

export type AttachmentState = 'pending' | 'ready' | 'failed' | 'detached';

export type Order = 'asc' | 'desc';

export type TerminalEventType = 'run_completed' | 'run_cancelled' | 'error';

export type ErrorCode =
  | 'unauthorized'
  | 'missing_selector'
  | 'invalid_selector'
  | 'forbidden'
  | 'insufficient_scope'
  | 'invalid_json'
  | 'invalid_body'
  | 'unknown_field'
  | 'duplicate_key'
  | 'not_supported'
  | 'invalid_query'
  | 'unknown_query_parameter'
  | 'invalid_cursor'
  | 'invalid_status'
  | 'invalid_label'
  | 'invalid_last_event_id'
  | 'cursor_expired'
  | 'invalid_idempotency_key'
  | 'invalid_answer'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'not_acceptable'
  | 'method_not_allowed'
  | 'not_found'
  | 'agent_not_found'
  | 'files_unavailable'
  | 'idempotency_conflict'
  | 'session_terminal'
  | 'session_stopped'
  | 'session_busy'
  | 'run_terminal'
  | 'label_limit_reached'
  | 'feedback_limit_reached'
  | 'signal_limit_reached'
  | 'interaction_answered'
  | 'interaction_not_pending'
  | 'not_an_approver'
  | 'denied_by_rule'
  | 'file_too_large'
  | 'content_mismatch'
  | 'file_already_uploaded'
  | 'file_limit_reached'
  | 'storage_limit_reached'
  | 'file_not_ready'
  | 'range_not_satisfiable'
  | 'invalid_cron'
  | 'invalid_time_zone'
  | 'schedule_limit_reached'
  | 'invalid_webhook_url'
  | 'webhook_limit_reached'
  | 'connection_missing'
  | 'invalid_connection_url'
  | 'connect_unavailable'
  | 'invalid_ticket'
  | 'connection_limit_reached'
  | 'client_limit_reached'
  | 'credential_limit_reached'
  | 'secret_already_issued'
  | 'version_conflict'
  | 'status_change_not_combinable'
  | 'budget_exhausted'
  | 'unpriced_model'
  | 'budget_limit_reached'
  | 'invitation_limit_reached'
  | 'invitation_not_found'
  | 'invitation_for_another'
  | 'email_taken'
  | 'already_member'
  | 'last_owner'
  | 'tenant_not_retryable'
  | 'confirmation_mismatch'
  | 'unsupported_mode'
  | 'tenant_limit_reached'
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_target'
  | 'invalid_scope'
  | 'rate_limited'
  | 'storage_unavailable'
  | 'identity_unavailable'
  | 'not_ready'
  | 'internal';
