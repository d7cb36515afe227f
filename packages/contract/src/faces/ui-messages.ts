import type { Json } from '../json.ts';
import { UiStream, type UiStreamOptions } from './ai-sdk.ts';
import { voidTextIn } from './speech.ts';
import type { TurnEvent } from './turn.ts';
import type { UiChunk, UiMetadata } from './ui-chunks.ts';

/** A message as the AI SDK's UI keeps it. */
export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly metadata?: UiMetadata | undefined;
  readonly parts: readonly UiPart[];
}

export type UiPart =
  | { readonly type: 'step-start' }
  | { readonly type: 'text'; text: string; state?: 'streaming' | 'done' }
  | { readonly type: 'reasoning'; readonly id: string; text: string; state: 'streaming' | 'done' }
  | {
      readonly type: 'file';
      readonly mediaType: string;
      readonly filename?: string;
      readonly url: string;
    }
  | ToolPart;

/** A call of any tool: to the page they are all dynamic. */
export interface ToolPart {
  readonly type: 'dynamic-tool';
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: Json;
  readonly providerExecuted?: true;
  state:
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied';
  output?: Json;
  errorText?: string;
  approval?: { readonly id: string; readonly approved?: boolean; readonly reason?: string };
}

/** The assistant message of a run, equal to the one that the library builds from a stream of the same events. */
export function assistantMessage(
  run: Pick<UiStreamOptions, 'sessionId' | 'runId' | 'isTruncated' | 'usage'>,
  events: readonly TurnEvent[],
): UiMessage {
  const stream = new UiStream({ ...run, voids: voidTextIn(events), hasEnded: true });
  const parts: UiPart[] = [];
  const chunks = [...events.flatMap((event) => stream.take(event, true)), ...stream.pause()];
  for (const chunk of chunks) apply(parts, chunk);
  const end = chunks.findLast((chunk) => chunk.type === 'finish');
  const metadata = end?.messageMetadata ?? stream.metadata();
  return { id: run.runId, role: 'assistant', metadata, parts };
}

function apply(parts: UiPart[], chunk: UiChunk): void {
  const { type } = chunk;
  const spoken = parts.findLast((part) => part.type === 'text' || part.type === 'reasoning');
  if (type === 'start-step') parts.push({ type: 'step-start' });
  else if (type === 'reset-step') {
    parts.length = parts.findLastIndex((part) => part.type === 'step-start') + 1;
  } else if (type === 'text-start') parts.push({ type: 'text', text: '', state: 'streaming' });
  else if (type === 'reasoning-start') {
    parts.push({ type: 'reasoning', id: chunk.id, text: '', state: 'streaming' });
  } else if (type === 'text-delta' || type === 'reasoning-delta') {
    if (spoken !== undefined) spoken.text += chunk.delta;
  } else if (type === 'text-end' || type === 'reasoning-end') {
    if (spoken !== undefined) spoken.state = 'done';
  } else applyToCall(parts, chunk);
}

function applyToCall(parts: UiPart[], chunk: UiChunk): void {
  if (chunk.type === 'tool-input-available') {
    const { toolCallId, toolName, input, providerExecuted } = chunk;
    parts.push({
      type: 'dynamic-tool',
      toolName,
      toolCallId,
      state: 'input-available',
      input,
      ...(providerExecuted && { providerExecuted }),
    });
    return;
  }
  const part = parts.findLast(
    (each) =>
      each.type === 'dynamic-tool' &&
      (('toolCallId' in chunk && each.toolCallId === chunk.toolCallId) ||
        ('approvalId' in chunk && each.approval?.id === chunk.approvalId)),
  );
  if (part?.type === 'dynamic-tool') changeCall(part, chunk);
}

function changeCall(part: ToolPart, chunk: UiChunk): void {
  if (chunk.type === 'tool-output-available') {
    part.state = 'output-available';
    part.output = chunk.output;
  } else if (chunk.type === 'tool-output-error') {
    part.state = 'output-error';
    part.errorText = chunk.errorText;
  } else if (chunk.type === 'tool-output-denied') {
    part.state = 'output-denied';
  } else if (chunk.type === 'tool-approval-request') {
    part.state = 'approval-requested';
    part.approval = { id: chunk.approvalId };
  } else if (chunk.type === 'tool-approval-response') {
    const { approvalId: id, approved, reason } = chunk;
    part.state = 'approval-responded';
    part.approval = { id, approved, ...(reason !== undefined && { reason }) };
  }
}
