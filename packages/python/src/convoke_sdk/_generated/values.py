# Generated from packages/contract by packages/python/scripts/write-wire.ts. Do not edit.

from collections.abc import Mapping
from typing import Any, Literal

#: An object whose members the API does not declare: an agent's input, a tool's input, a payload.
JsonObject = Mapping[str, Any]
SessionStatus = Literal[
    "idle",
    "running",
    "waiting",
    "stopping",
    "stopped",
    "failed",
    "terminated",
]
StopMode = Literal["suspend", "terminate"]
RunStatus = Literal[
    "queued",
    "running",
    "waiting",
    "cancelling",
    "completed",
    "failed",
    "cancelled",
]
RunErrorCode = Literal[
    "agent_error",
    "model_error",
    "tool_error",
    "run_timeout",
    "interaction_expired",
    "worker_lost",
    "tool_in_doubt",
    "sandbox_unavailable",
    "budget_exceeded",
    "output_invalid",
    "connection_missing",
    "internal_error",
]
RunFilter = Literal[
    "queued",
    "running",
    "waiting",
    "cancelling",
    "completed",
    "failed",
    "cancelled",
    "active",
    "ended",
]
InteractionKind = Literal["permission", "question"]
InteractionStatus = Literal["pending", "answered", "expired", "cancelled"]
InteractionFilter = Literal["pending", "answered", "expired", "cancelled", "all"]
InterruptionReason = Literal["drained", "worker_lost"]
NoticeType = Literal[
    "run_queued",
    "run_started",
    "run_waiting",
    "interaction_answered",
    "interaction_approved",
    "run_interrupted",
    "run_resumed",
    "run_completed",
    "run_cancelled",
    "run_failed",
    "run_feedback",
    "session_created",
    "session_stopped",
    "session_ended",
    "budget_reached",
    "webhook_disabled",
    "connection_expired",
    "schedule_skipped",
]
Decision = Literal["allow", "deny"]
FileStatus = Literal["pending", "ready"]
ScheduleStatus = Literal["active", "paused"]
OverlapPolicy = Literal["skip", "queue"]
MissedPolicy = Literal["once", "skip"]
SessionMode = Literal["new", "keep"]
FireOutcome = Literal["started", "skipped", "refused"]
WebhookType = Literal[
    "*",
    "run_queued",
    "run_started",
    "run_waiting",
    "interaction_answered",
    "interaction_approved",
    "run_interrupted",
    "run_resumed",
    "run_completed",
    "run_cancelled",
    "run_failed",
    "run_feedback",
    "session_created",
    "session_stopped",
    "session_ended",
    "budget_reached",
    "webhook_disabled",
    "connection_expired",
    "schedule_skipped",
]
DeliveryStatus = Literal["pending", "sending", "delivered", "failed", "blocked"]
ConnectionStatus = Literal["connected", "expired"]
Scope = Literal[
    "agents:read",
    "sessions:read",
    "sessions:write",
    "runs:read",
    "runs:write",
    "feedback:write",
    "interactions:read",
    "interactions:write",
    "files:read",
    "files:write",
    "schedules:read",
    "schedules:write",
    "webhooks:read",
    "webhooks:write",
    "connections:read",
    "connections:write",
    "usage:read",
    "agents:deploy",
]
Profile = Literal["observe", "invoke", "deploy", "custom"]
MemberRole = Literal["owner", "admin", "operator", "viewer", "member"]
ClientStatus = Literal["active", "disabled"]
CredentialStatus = Literal["active", "revoked", "expired"]
TenantStatus = Literal["provisioning", "active", "failed", "offboarding", "offboarded"]
AttachmentState = Literal["pending", "ready", "failed", "detached"]
Order = Literal["asc", "desc"]
TerminalEventType = Literal["run_completed", "run_cancelled", "error"]
ErrorCode = Literal[
    "unauthorized",
    "missing_selector",
    "invalid_selector",
    "forbidden",
    "insufficient_scope",
    "invalid_json",
    "invalid_body",
    "unknown_field",
    "duplicate_key",
    "not_supported",
    "invalid_query",
    "unknown_query_parameter",
    "invalid_cursor",
    "invalid_status",
    "invalid_label",
    "invalid_last_event_id",
    "cursor_expired",
    "invalid_idempotency_key",
    "invalid_answer",
    "body_too_large",
    "unsupported_media_type",
    "not_acceptable",
    "method_not_allowed",
    "not_found",
    "agent_not_found",
    "files_unavailable",
    "idempotency_conflict",
    "session_terminal",
    "session_stopped",
    "session_busy",
    "run_terminal",
    "label_limit_reached",
    "feedback_limit_reached",
    "signal_limit_reached",
    "interaction_answered",
    "interaction_not_pending",
    "not_an_approver",
    "denied_by_rule",
    "file_too_large",
    "content_mismatch",
    "file_already_uploaded",
    "file_limit_reached",
    "storage_limit_reached",
    "file_not_ready",
    "range_not_satisfiable",
    "invalid_cron",
    "invalid_time_zone",
    "schedule_limit_reached",
    "invalid_webhook_url",
    "webhook_limit_reached",
    "connection_missing",
    "invalid_connection_url",
    "connect_unavailable",
    "invalid_ticket",
    "connection_limit_reached",
    "client_limit_reached",
    "credential_limit_reached",
    "secret_already_issued",
    "version_conflict",
    "status_change_not_combinable",
    "budget_exhausted",
    "unpriced_model",
    "budget_limit_reached",
    "invitation_limit_reached",
    "invitation_not_found",
    "invitation_for_another",
    "email_taken",
    "already_member",
    "last_owner",
    "tenant_not_retryable",
    "confirmation_mismatch",
    "unsupported_mode",
    "tenant_limit_reached",
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unsupported_grant_type",
    "invalid_target",
    "invalid_scope",
    "rate_limited",
    "storage_unavailable",
    "identity_unavailable",
    "not_ready",
    "internal",
]
