export { operationsOfScope, permissionCatalog } from './catalog.ts';
export { brandMark, designTokens } from './design-tokens.ts';
export { type Html, html, joinHtml, rawHtml } from './html.ts';
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
export { type EventNames, type RunEvent, type RunEventList, runEvent } from './events/envelope.ts';
export {
  type EventData,
  type EventType,
  eventTypes,
  interruptionReasons,
  isEventType,
  isTerminalEventType,
  terminalEventTypes,
} from './events/event-types.ts';
export { type Notice, notice, noticeTypeNames } from './events/notice.ts';
export { type NoticeType, noticeTypes } from './events/notice-types.ts';
export {
  type ClientId,
  type CredentialId,
  clientId,
  credentialId,
  type FileId,
  fileId,
  formatEventId,
  formatNoticeId,
  type InteractionKey,
  idPattern,
  idPrefixes,
  kindOfId,
  interactionKey,
  type InvitationId,
  invitationId,
  type OrganizationId,
  organizationId,
  parseEventId,
  parseNoticeId,
  type RunId,
  runId,
  type DeliveryId,
  deliveryId,
  type ScheduleId,
  scheduleId,
  type WebhookId,
  webhookId,
  type ConnectionId,
  connectionId,
  type SessionId,
  sessionId,
  type TenantId,
  tenantId,
  type UserId,
  userId,
} from './ids.ts';
export { type Json, type JsonObject, jsonObject } from './json.ts';
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
  isOpenToSessionTokens,
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
export {
  type BudgetRecord,
  budgetPeriods,
  budgetScopeKinds,
  runBudget,
} from './resources/budget.ts';
export {
  type AgentDetails,
  type AgentRecord,
  agentNamePattern,
  agentRecord,
} from './resources/agent.ts';
export {
  type CallerRecord,
  callerRecord,
  type MemberRole,
  memberRoles,
} from './resources/caller.ts';
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
  type FeedbackAuthorKind,
  type FeedbackRecord,
  feedbackAuthorKinds,
  feedbackKeyPattern,
  feedbackRecord,
} from './resources/runs/feedback.ts';
export { errorBody } from './resources/error.ts';
export {
  type FileRecord,
  type FileStatus,
  fileRecord,
  fileStatuses,
  isFileName,
} from './resources/file.ts';
export {
  type Decision,
  decisions,
  type InteractionFilter,
  type InteractionKind,
  type InteractionRecord,
  type InteractionStatus,
  type InteractionSummary,
  interactionFilters,
  interactionKinds,
  interactionRecord,
  interactionStatuses,
  type PermissionAnswer,
  permissionAnswer,
  type QuestionAnswer,
  questionAnswer,
} from './resources/interaction.ts';
export { callbackToken } from './resources/runs/callback.ts';
export {
  refusedCallCodes,
  signalName,
  waitKinds,
  waitOutcomes,
  waitsShown,
} from './resources/runs/wait.ts';
export {
  type RuleDocumentRecord,
  type RuleWarningCode,
  ruleWarningCodes,
} from './resources/rules/document.ts';
export {
  type AgentRule,
  type ApproverRole,
  type ExpiryOutcome,
  type MemoryWidth,
  type OrganizationRule,
  type RememberWidth,
  type RuleEffect,
  type RuleSource,
  agentRules,
  approverRoles,
  memoryWidths,
  organizationRules,
  rememberWidths,
  ruleEffects,
  ruleSources,
} from './resources/rules/rule.ts';
export type { RuleTrialRecord } from './resources/rules/trial.ts';
export { labelKeyPattern, type Labels, splitLabel } from './resources/labels.ts';
export type { Overview } from './resources/overview.ts';
export { isRepeatable, orders } from './resources/page.ts';
export type { PendingOperation, PendingOperationKind } from './resources/pending-operation.ts';
export {
  isTerminalRunStatus,
  type RunFilter,
  type RunRecord,
  type RunStatus,
  type RunSummary,
  runFilters,
  runRecord,
  runStatuses,
} from './resources/run.ts';
export {
  type FireOutcome,
  type FireRecord,
  fireOutcomes,
  type MissedPolicy,
  missedPolicies,
  type OverlapPolicy,
  overlapPolicies,
  type ScheduleRecord,
  type ScheduleStatus,
  type ScheduleSummary,
  type SessionMode,
  scheduleRecord,
  scheduleStatuses,
  scheduleSummary,
  sessionModes,
} from './resources/schedule.ts';
export {
  isTerminalSessionStatus,
  type SessionRecord,
  type SessionStatus,
  type StopMode,
  sessionRecord,
  sessionStatuses,
  stopModes,
} from './resources/session.ts';
export type { AuditRecord, AuditStatusRecord } from './resources/audit.ts';
export type { SystemRecord } from './resources/health.ts';
export type {
  AcceptedInvitation,
  InvitationRecord,
  IssuedInvitation,
  OfferedInvitation,
} from './resources/invitation.ts';
export type {
  MemberRecord,
  MeRecord,
  OrganizationRecord,
} from './resources/organization.ts';
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
  type ResourceMetadata,
  type ServerMetadata,
  type SessionTokenRecord,
  type TokenResponse,
  tokenResponse,
} from './resources/token.ts';
export {
  type LabelGroup,
  type UsageRecord,
  isLabelGroup,
  labelKeyOf,
  organizationUsageGroups,
  usageBuckets,
  usageGroups,
} from './resources/usage.ts';
export { nearestName } from './nearest-name.ts';
export {
  type ConnectionAuth,
  type ConnectionAuthType,
  type ConnectionOwner,
  type ConnectionReason,
  type ConnectionRecord,
  type ConnectionStatus,
  connectionOwners,
  connectionRecord,
  connectionServicePattern,
  connectionStatuses,
} from './resources/connections/connection.ts';
export type {
  BegunConnection,
  SessionConnectionRecord,
  SessionConnectionStatus,
} from './resources/connections/session-connection.ts';
export {
  type DeliveryDetail,
  type DeliveryRecord,
  type DeliveryStatus,
  deliveryRecord,
  deliveryStatuses,
  type WebhookRecord,
  type WebhookStatus,
  type WebhookType,
  webhookRecord,
  webhookStatuses,
  webhookTypes,
} from './resources/webhook.ts';
export { type WorkspaceRecord, workspaceRecord } from './resources/workspace.ts';
export {
  isScope,
  mcpScopes,
  type Profile,
  profileNames,
  profiles,
  type Scope,
  scopeDescriptions,
  scopes,
  scopesOf,
  sessionTokenScopes,
  usualSessionTokenScopes,
} from './scopes.ts';
