export { operationsOfScope, permissionCatalog } from './catalog.ts';
export {
  type ErrorCode,
  errors,
  headerErrors,
  queryErrors,
  type RunErrorCode,
  routingErrors,
  runErrorCodes,
  runErrors,
} from './errors.ts';
export { type RunEvent, type RunEventList, runEvent } from './events/envelope.ts';
export {
  type EventData,
  type EventType,
  eventTypes,
  interruptionReasons,
  isEventType,
  isTerminalEventType,
  terminalEventTypes,
} from './events/event-types.ts';
export { RunText, type TextEvent } from './events/run-text.ts';
export {
  type ClientId,
  type CredentialId,
  clientId,
  credentialId,
  type FileId,
  fileId,
  formatEventId,
  type InteractionKey,
  idPattern,
  idPrefixes,
  interactionKey,
  type OrganizationId,
  organizationId,
  parseEventId,
  type RunId,
  runId,
  type SessionId,
  sessionId,
  type TenantId,
  tenantId,
  type UserId,
  userId,
} from './ids.ts';
export type { Json, JsonObject } from './json.ts';
export { limits } from './limits.ts';
export { openApiDocument } from './openapi.ts';
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
  errorsOf,
  type Method,
  type Operation,
  type OperationInput,
  type OperationResult,
  paramErrors,
  pathParams,
  requiredScopes,
  statusesOf,
  statusOfError,
} from './operation.ts';
export {
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
export { errorBody } from './resources/error.ts';
export {
  type FileRecord,
  type FileStatus,
  fileRecord,
  fileStatuses,
  isFileName,
} from './resources/file.ts';
export {
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
  questionAnswer,
} from './resources/interaction.ts';
export { orders } from './resources/page.ts';
export type { PendingOperation, PendingOperationKind } from './resources/pending-operation.ts';
export {
  isTerminalRunStatus,
  type RunRecord,
  type RunStatus,
  runRecord,
  runStatuses,
} from './resources/run.ts';
export {
  isTerminalSessionStatus,
  type SessionRecord,
  type SessionStatus,
  type StopMode,
  sessionRecord,
  sessionStatuses,
  stopModes,
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
  isScope,
  type Profile,
  profileNames,
  profiles,
  type Scope,
  scopeDescriptions,
  scopes,
  scopesOf,
} from './scopes.ts';
