export { operationsOfScope, permissionCatalog } from './catalog.ts';
export {
  type ErrorCode,
  errors,
  headerErrors,
  isErrorCode,
  queryErrors,
  type RunErrorCode,
  routingErrors,
  runErrorCodes,
  runErrors,
} from './errors.ts';
export {
  type KnownRunEvent,
  type RunEvent,
  type RunEventList,
  runEvent,
  runEventList,
} from './events/envelope.ts';
export {
  type EventData,
  type EventType,
  eventTypes,
  isEventType,
  isTerminalEventType,
  type TerminalEventType,
  terminalEventTypes,
} from './events/event-types.ts';
export {
  type ClientId,
  type CredentialId,
  clientId,
  clientIdSchema,
  credentialId,
  credentialIdSchema,
  type FileId,
  fileId,
  fileIdSchema,
  formatEventId,
  type IdKind,
  type InteractionKey,
  idPattern,
  idPrefixes,
  interactionKey,
  interactionKeySchema,
  type OrganizationId,
  organizationId,
  organizationIdSchema,
  parseEventId,
  type RunId,
  runId,
  runIdSchema,
  type SessionId,
  sessionId,
  sessionIdSchema,
  type TenantId,
  tenantId,
  tenantIdSchema,
  type UserId,
  userId,
  userIdSchema,
  type WorkspaceId,
  workspaceId,
  workspaceIdSchema,
} from './ids.ts';
export { type Json, type JsonObject, jsonObject, jsonValue } from './json.ts';
export { limits } from './limits.ts';
export { type OpenApiOptions, openApiDocument } from './openapi.ts';
export {
  type MediaType,
  type OpenApiDocument,
  type Parameter,
  type PathOperation,
  type Ref,
  type Response,
  type Schema,
  schemaRefPrefix,
} from './openapi/document.ts';
export {
  type CallerKind,
  type DeclaredError,
  errorsOf,
  type Method,
  type NoScope,
  type Operation,
  type OperationError,
  type OperationInput,
  type OperationRefusal,
  type OperationResponse,
  type OperationResult,
  paramErrors,
  pathParams,
  requiredScopes,
  statusesOf,
  statusOfError,
  type Tag,
} from './operation.ts';
export {
  isOperationId,
  type OperationId,
  type Operations,
  operationList,
  operations,
} from './operations/table.ts';
export { type AgentRecord, agentNamePattern, agentRecord } from './resources/agent.ts';
export { type CallerRecord, callerRecord } from './resources/caller.ts';
export {
  type ClientRecord,
  type ClientStatus,
  clientRecord,
  clientStatuses,
  type IssuedClient,
  type ProfileCatalog,
} from './resources/client.ts';
export {
  type CredentialRecord,
  type CredentialStatus,
  credentialRecord,
  credentialStatuses,
  type IssuedCredential,
} from './resources/credential.ts';
export {
  type AlreadyIssuedBody,
  alreadyIssuedBody,
  type ErrorBody,
  errorBody,
} from './resources/error.ts';
export {
  type FileRecord,
  type FileStatus,
  fileRecord,
  fileStatuses,
  isFileName,
} from './resources/file.ts';
export {
  type AnswerValue,
  type Decision,
  decisions,
  type InteractionFilter,
  type InteractionKind,
  type InteractionRecord,
  type InteractionStatus,
  interactionFilters,
  interactionKinds,
  interactionRecord,
  interactionStatuses,
  type PermissionAnswer,
  permissionAnswer,
  type QuestionAnswer,
  type QuestionOption,
  questionAnswer,
} from './resources/interaction.ts';
export { type Order, orders } from './resources/page.ts';
export {
  type PendingOperation,
  type PendingOperationKind,
  pendingOperationKinds,
} from './resources/pending-operation.ts';
export {
  isTerminalRunStatus,
  type RunRecord,
  type RunStatus,
  type RunUsage,
  runRecord,
  runStatuses,
  type TerminalRunStatus,
  terminalRunStatuses,
} from './resources/run.ts';
export {
  isTerminalSessionStatus,
  type SessionRecord,
  type SessionStatus,
  type StopMode,
  sessionRecord,
  sessionStatuses,
  stopModes,
  type TerminalSessionStatus,
  terminalSessionStatuses,
} from './resources/session.ts';
export {
  type AttachmentState,
  attachmentStates,
  type TenantRecord,
  type TenantStatus,
  tenantRecord,
  tenantStatuses,
} from './resources/tenant.ts';
export {
  type JsonWebKeySet,
  type ServerMetadata,
  type TokenResponse,
  tokenResponse,
} from './resources/token.ts';
export { type WorkspaceRecord, workspaceRecord } from './resources/workspace.ts';
export {
  catalogVersion,
  isScope,
  type NamedProfile,
  type Profile,
  profileDescriptions,
  profileNames,
  profiles,
  type Scope,
  scopeDescriptions,
  scopes,
  scopesOf,
} from './scopes.ts';
export { type TextBounds, text } from './text.ts';
