import type { ContentBlock, SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { Json } from '@convoke/sdk';
import { type AskItem, type TranscriptItem, interruptedText } from '@convoke/faces';
import { printable } from '@convoke/faces/printable';

/** Returns the updates that show an item. Ids of calls are unique in a run, and in an editor for all its sessions. */
export function updatesOf(item: TranscriptItem, runId: string): SessionUpdate[] {
  switch (item.kind) {
    case 'text':
      // The server's own words about an interruption, which has a line below.
      return item.text === interruptedText ? [] : [said('agent_message_chunk', item.text)];
    case 'thought':
      return [said('agent_thought_chunk', item.text)];
    case 'call': {
      const toolCallId = idOf(runId, item.call);
      if (!item.isNew) return [update(toolCallId, 'in_progress')];
      const { name, input: rawInput } = item;
      return [{ ...pending, toolCallId, title: printable(name), name, rawInput }];
    }
    case 'ask':
      return item.about === 'permission' && !item.isNew ? [] : [askedCall(item, runId)];
    case 'result': {
      const status = item.ok ? 'completed' : 'failed';
      const content = contentOf(item.output);
      return [{ ...update(idOf(runId, item.call), status), rawOutput: item.output, content }];
    }
    case 'settled':
      return settled(item, runId);
    case 'interrupted':
      // ACP cannot take words back: later text repeats them (D-215).
      return item.discardFrom === undefined ? [] : [said('agent_message_chunk', interruptedText)];
    case 'output':
      return [said('agent_message_chunk', outputText(item.output))];
    case 'begin':
    case 'note':
    case 'end':
      return [];
  }
}

/** The id of the call that a request is about; a question is shown as a call of its own. */
export function callOf(ask: AskItem, runId: string): string {
  return idOf(runId, ask.about === 'permission' ? ask.call : ask.key);
}

export function said(
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk',
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: textBlock(text) };
}

const pending = { sessionUpdate: 'tool_call', kind: 'other', status: 'pending' } as const;

function askedCall(ask: AskItem, runId: string): SessionUpdate {
  const toolCallId = callOf(ask, runId);
  if (ask.about === 'permission') {
    const { name, input: rawInput } = ask;
    return { ...pending, toolCallId, title: printable(name), name, rawInput };
  }
  const rawInput = { question: ask.question, ...ask.details };
  // It acts on nothing, so a client that guards other kinds has nothing to guard.
  return {
    ...pending,
    kind: 'think',
    toolCallId,
    title: printable(ask.question),
    name: 'ask_user',
    rawInput,
  };
}

/** A call that was denied never has a result. */
function settled(
  { ask, outcome }: Extract<TranscriptItem, { kind: 'settled' }>,
  runId: string,
): SessionUpdate[] {
  if (ask === undefined) return [];
  const toolCallId = callOf(ask, runId);
  if (ask.about === 'permission') {
    return outcome['decision'] === 'deny' ? [update(toolCallId, 'failed')] : [];
  }
  const answer = outcome['declined'] === true ? '(declined)' : outcome['answer'];
  const text = Array.isArray(answer) ? answer.join(', ') : answer;
  return [{ ...update(toolCallId, 'completed'), content: contentOf(text ?? null) }];
}

/** ACP has no place for data that its clients would show. */
export function outputText(output: Json): string {
  return `\n\n\`\`\`json\n${JSON.stringify(output, null, 2)}\n\`\`\`\n`;
}

function update(toolCallId: string, status: 'in_progress' | 'completed' | 'failed') {
  return { sessionUpdate: 'tool_call_update' as const, toolCallId, status };
}

function contentOf(output: Json): ToolCallContent[] {
  return typeof output === 'string' ? [{ type: 'content', content: textBlock(output) }] : [];
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

function idOf(runId: string, call: string): string {
  return `${runId}:${call}`;
}
