export type {
  AskContext,
  InteractionHandlers,
  PermissionHandler,
  QuestionHandler,
} from './runs/interaction-responder.ts';
export type { Agents } from './agents.ts';
export type { Clients } from './management/clients.ts';
export { Convoke, type ConvokeOptions } from './convoke.ts';
export { ConvokeAdmin, type ConvokeAdminOptions } from './convoke-admin.ts';
export type { Credentials } from './management/credentials.ts';
export {
  AuthenticationError,
  type ClientCode,
  ConflictError,
  ConnectionError,
  ConvokeError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RunError,
  ServerError,
} from './errors.ts';
export type { FileContent, FileSource, Progress } from './sessions/file-content.ts';
export type { DownloadOptions, Files, PutOptions, UploadOptions } from './sessions/files.ts';
export type { EventDataByType } from './generated/events.ts';
export type {
  AgentRecord,
  CallerRecord,
  ClientRecord,
  ClientWithCredentials,
  CredentialRecord,
  FileRecord,
  InteractionRecord,
  IssuedClient,
  IssuedCredential,
  PendingOperation,
  ProfileCatalog,
  RunRecord,
  SessionRecord,
  TenantRecord,
  WorkspaceRecord,
} from './generated/records.ts';
export type {
  AddCredential,
  CancelRun,
  CreateClient,
  CreateTenant,
  EventsQuery,
  InteractionsQuery,
  OffboardTenant,
  PageQuery,
  PermissionAnswer,
  PrepareFile,
  QuestionDeclined,
  QuestionReply,
  RunsQuery,
  SessionsQuery,
  StopSession,
  UpdateClient,
} from './generated/requests.ts';
export type {
  AttachmentState,
  ClientStatus,
  CredentialStatus,
  Decision,
  ErrorCode,
  FileStatus,
  InteractionFilter,
  InteractionKind,
  InteractionStatus,
  InterruptionReason,
  Json,
  JsonObject,
  Order,
  Profile,
  RunErrorCode,
  RunStatus,
  Scope,
  SessionStatus,
  StopMode,
  TenantStatus,
  TerminalEventType,
} from './generated/values.ts';
export { RunText, type TextEvent } from './generated/run-text.ts';
export type { IdempotentOptions } from './transport/idempotency.ts';
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
export type { Session, SessionHandle } from './sessions/session.ts';
export type { Sessions } from './sessions/sessions.ts';
export type { Tenants } from './management/tenants.ts';
export type { ClientCredentials, TokenProvider } from './transport/tokens.ts';
export type { CallOptions, Fetch } from './transport/transport.ts';
export type { TenantHeader, WorkspaceSelector } from './workspaces.ts';
