export type {
  AskContext,
  InteractionHandlers,
  PermissionHandler,
  QuestionHandler,
} from './runs/interaction-responder.ts';
export type { AgentType, AgentTypes, AnyAgent, AnyAgents, InputOf } from './agent-types.ts';
export type { Agents } from './agents.ts';
export { auditActionName, auditSentence } from './audit-sentences.ts';
export type { Budgets } from './generated/budgets.ts';
export type { RuleTrialSoFar, Rules } from './rules.ts';
export type { Clients } from './clients.ts';
export { Convoke, type ConvokeOptions } from './convoke.ts';
export { ConvokeAdmin, type ConvokeAdminOptions } from './convoke-admin.ts';
export type { Credentials } from './generated/credentials.ts';
export {
  AuthenticationError,
  type ClientCode,
  ConflictError,
  ConnectionError,
  ConvokeError,
  InvalidRequestError,
  NoOutput,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RunError,
  ServerError,
} from './errors.ts';
export type { Feed, FollowFeedOptions } from './feed.ts';
export type { FileContent, FileSource, Progress } from './sessions/file-content.ts';
export type {
  DownloadOptions,
  Files,
  NewFile,
  PutOptions,
  UploadOptions,
} from './sessions/files.ts';
export type { EventDataByType } from './generated/events.ts';
export type {
  AcceptedInvitation,
  AgentDetails,
  AgentRecord,
  AuditRecord,
  AuditStatusRecord,
  BudgetRecord,
  CallerRecord,
  ClientRecord,
  ClientWithCredentials,
  CredentialRecord,
  FeedbackRecord,
  FileRecord,
  InteractionInTenantRecord,
  InteractionRecord,
  InteractionSummary,
  IssuedClient,
  InvitationRecord,
  IssuedCredential,
  IssuedInvitation,
  NoticeRecord,
  MemberRecord,
  MeRecord,
  OrganizationRecord,
  OverviewRecord,
  PendingOperation,
  ProfileCatalog,
  RunRecord,
  RunSummary,
  SessionRecord,
  SessionTokenRecord,
  SystemRecord,
  TenantRecord,
  UsageRecord,
  WorkspaceRecord,
} from './generated/records.ts';
export type {
  RuleApprovers,
  RuleChange,
  RuleCondition,
  RuleDocumentRecord,
  RuleMatches,
  RuleRecord,
  RuleTrialRecord,
  RuleWarning,
} from './generated/rule-records.ts';
export type {
  ScheduleFire,
  ScheduleRecord,
  ScheduleSummary,
} from './generated/schedule-records.ts';
export type {
  IssuedWebhook,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookRecord,
  WebhookReplay,
} from './generated/webhook-records.ts';
export {
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookRequest,
  WebhookVerificationError,
} from './webhooks/verify-webhook.ts';
export type { Connections } from './generated/connections.ts';
export type {
  BegunConnection,
  ConnectionRecord,
  SessionConnectionRecord,
} from './generated/connection-records.ts';
export type { Webhooks } from './webhooks/webhooks.ts';
export type {
  AddCredential,
  AuditQuery,
  AgentsQuery,
  BeginConnection,
  ConnectionAuth,
  CancelRun,
  ConnectionOwner,
  ConnectionsQuery,
  CreateClient,
  CreateSchedule,
  CreateSessionToken,
  CreateTenant,
  CreateWebhook,
  DeliveriesQuery,
  EventsQuery,
  FeedQuery,
  InteractionsQuery,
  OffboardTenant,
  PageQuery,
  PermissionAnswer,
  PrepareFile,
  PutConnection,
  PutFeedback,
  QuestionDeclined,
  QuestionReply,
  RunsQuery,
  SchedulesQuery,
  SessionsQuery,
  SetBudget,
  SetRules,
  StopSession,
  TenantInteractionsQuery,
  TenantRunsQuery,
  TryRules,
  UpdateClient,
  UpdateSchedule,
  UpdateRun,
  UpdateSession,
  UpdateWebhook,
} from './generated/requests.ts';
export type {
  AttachmentState,
  ClientStatus,
  CredentialStatus,
  Decision,
  DeliveryStatus,
  ErrorCode,
  FileStatus,
  FireOutcome,
  InteractionFilter,
  InteractionKind,
  InteractionStatus,
  InterruptionReason,
  Json,
  JsonObject,
  NoticeType,
  MemberRole,
  MissedPolicy,
  Order,
  OverlapPolicy,
  Profile,
  RunErrorCode,
  RunFilter,
  RunStatus,
  ScheduleStatus,
  Scope,
  SessionMode,
  SessionStatus,
  StopMode,
  TenantStatus,
  TerminalEventType,
  WebhookType,
} from './generated/values.ts';
export {
  type AskItem,
  type CallItem,
  type PermissionItem,
  type QuestionItem,
  type ResultItem,
  RunText,
  RunTranscript,
  type SettledItem,
  type TextEvent,
  type TranscriptEvent,
  type TranscriptItem,
  interruptedText,
} from '@convoke/faces';
export { openSession, type OpenSessionOptions } from './open-session.ts';
export type { TenantInteractions, TenantRuns } from './tenant.ts';
export type { IdempotentOptions, LabelledOptions } from './transport/idempotency.ts';
export type { Answer, Interactions } from './runs/interactions.ts';
export type { Listing, Page } from './transport/listing.ts';
export type { ConnectionOptions, TokenOptions } from './options.ts';
export type { RetryPolicy } from './transport/retry.ts';
export { type FollowOptions, type Run, type RunHandle, type WaitOptions } from './runs/run.ts';
export {
  type EventEnvelope,
  type EventType,
  isTerminalEvent,
  type KnownRunEvent,
  type OtherRunEvent,
  type RunEvent,
} from './runs/run-event.ts';
export type { RunInput, Runs, StartOptions } from './runs/runs.ts';
export type { NewSchedule, Schedules } from './schedules.ts';
export type { Session, SessionHandle } from './sessions/session.ts';
export type { UiMessage, UiMessages } from './sessions/ui-messages.ts';
export type { Audit } from './generated/audit.ts';
export type { Members } from './generated/members.ts';
export type { CreateSessionOptions, Sessions } from './sessions/sessions.ts';
export type { Tenants } from './generated/tenants.ts';
export type { ClientCredentials, TokenProvider } from './transport/tokens.ts';
export type { AuthorizedFetch } from './transport/authorized-fetch.ts';
export type { CallOptions, Fetch } from './transport/transport.ts';
export type { Usage } from './usage.ts';
export type { TenantHeader, WorkspaceSelector } from './workspaces.ts';
