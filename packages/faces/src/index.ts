export { type A2aEvent, A2aStream, type A2aStreamOptions } from './a2a/stream.ts';
export {
  type A2aMessage,
  type A2aState,
  type A2aTask,
  type A2aUpdate,
  legacyTask,
  legacyUpdate,
} from './a2a/wire.ts';
export type { AgUiEvent, AgUiInterrupt, AgUiMessage } from './ag-ui/events.ts';
export { bytesOf, snapshotBounds } from './ag-ui/messages.ts';
export { AgUiStream, type AgUiStreamOptions, agUiMessages, callIdOf } from './ag-ui/stream.ts';
export type { UiChunk } from './ai-sdk/chunks.ts';
export { type UiMessage, assistantMessage } from './ai-sdk/messages.ts';
export { type UiPart, applyChunk } from './ai-sdk/parts.ts';
export { isQuestionPart, requestKeyOf } from './ai-sdk/request-parts.ts';
export { UiStream, type UiStreamOptions } from './ai-sdk/stream.ts';
export {
  type Approvers,
  type MayAllow,
  approversText,
  askedBecause,
  isOffered,
  waitingText,
} from './approvers.ts';
export { type CallNode, callTree, nameWithCaller } from './call-tree.ts';
export { chooseOptions } from './choose-options.ts';
export { eventsInstead } from './deleted-log.ts';
export type { EventType } from './event-types.ts';
export type { Json, JsonObject } from './json.ts';
export {
  type McpAnswer,
  type McpForm,
  aboutOf,
  answerIn,
  connectLinkOf,
  formOf,
  replyTo,
} from './mcp/forms.ts';
export { type McpResult, errorResult, resultOf } from './mcp/results.ts';
export { McpRun, type McpRunState } from './mcp/run.ts';
export { sessionArgument } from './mcp/schemas.ts';
export {
  type McpTool,
  agentTool,
  answerTool,
  cancelTool,
  ownTools,
  waitTool,
} from './mcp/tools.ts';
export { inputText } from './printable.ts';
export type { RunMetadata } from './run-metadata.ts';
export { RunText, type TextEvent, interruptedText } from './run-text.ts';
export { type VoidText, voidTextIn } from './speech.ts';
export {
  type AskItem,
  type CallItem,
  type PermissionItem,
  type QuestionItem,
  type ResultItem,
  RunTranscript,
  type SettledItem,
  type TranscriptEvent,
  type TranscriptItem,
} from './transcript.ts';
