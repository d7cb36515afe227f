import type { ContentBlock, SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { JsonObject } from '../../domain/json.ts';
import type { HarnessEvent } from '../../ports/harness.ts';
import { isShort } from '../shown-value.ts';
import { jsonOf } from './json-of.ts';

/** Details beyond this are dropped: a tool's output is unlimited, and every reader of the run gets the events. */
const detailCharactersMax = 64 * 1024;

/** Translates an update of the agent's session into an event; `undefined` for updates that only an editor needs. */
export function eventOf(
  update: SessionUpdate,
  model: string | undefined,
): HarnessEvent | undefined {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      return update.content.type === 'text'
        ? {
            type: 'message_delta',
            text: update.content.text,
            ...(model !== undefined && { model }),
          }
        : custom('message_content', contentOf(update.content));
    case 'agent_thought_chunk':
      return update.content.type === 'text'
        ? custom('agent_thought_chunk', { text: update.content.text })
        : undefined;
    case 'tool_call':
    case 'tool_call_update':
      return custom(update.sessionUpdate, callOf(update));
    case 'plan':
      return custom('plan', { entries: jsonOf(update.entries) });
    case 'usage_update':
      return custom('usage_update', { used: update.used, size: update.size });
    case 'current_mode_update':
      return custom('current_mode_update', { mode: update.currentModeId });
    case 'user_message_chunk':
    case 'available_commands_update':
    case 'config_option_update':
    case 'session_info_update':
    case 'notice':
    case 'compaction_update':
    case 'compaction_summary_chunk':
      return undefined;
    default:
      return update satisfies never;
  }
}

function callOf(call: ToolCallUpdate): JsonObject {
  const known: JsonObject = {
    tool_call_id: call.toolCallId,
    ...(typeof call.title === 'string' && { title: call.title }),
    ...(typeof call.name === 'string' && { name: call.name }),
    ...(typeof call.kind === 'string' && { kind: call.kind }),
    ...(typeof call.status === 'string' && { status: call.status }),
  };
  const details: JsonObject = {
    ...(call.locations && { locations: jsonOf(call.locations) }),
    ...(call.rawInput !== undefined && { raw_input: jsonOf(call.rawInput) }),
    ...(call.rawOutput !== undefined && { raw_output: jsonOf(call.rawOutput) }),
    ...(call.content && { content: jsonOf(call.content) }),
  };
  return isShort(details, detailCharactersMax)
    ? { ...known, ...details }
    : { ...known, details_dropped: true };
}

/** Type and location of content; the bytes are not part of an event. */
function contentOf(content: Exclude<ContentBlock, { type: 'text' }>): JsonObject {
  switch (content.type) {
    case 'image':
    case 'audio':
      return { type: content.type, mime_type: content.mimeType };
    case 'resource_link':
      return { type: content.type, name: content.name, uri: content.uri };
    case 'resource':
      return { type: content.type, uri: content.resource.uri };
    default:
      return content satisfies never;
  }
}

function custom(name: string, data: JsonObject): HarnessEvent {
  return { type: 'custom', name, data };
}
