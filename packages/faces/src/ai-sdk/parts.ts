import type { Json } from '../json.ts';
import type { UiChunk } from './chunks.ts';

/** A part of a message as the AI SDK's UI keeps it. */
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
  | { readonly type: 'data-input'; readonly data: Json }
  | OutputPart
  | ToolPart;

/** The output of the agent. */
export interface OutputPart {
  readonly type: 'data-output';
  readonly id: 'output';
  readonly data: Json;
}

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

/**
 * Changes the parts of a message as the library does. Returns false for a chunk that is about none of these parts, and
 * changes nothing then.
 */
export function applyChunk(parts: UiPart[], chunk: UiChunk): boolean {
  const { type } = chunk;
  if (type === 'start-step') parts.push({ type: 'step-start' });
  else if (type === 'reset-step') {
    while (parts.length > 0 && parts.at(-1)?.type !== 'step-start') parts.pop();
  } else if (type === 'text-start') parts.push({ type: 'text', text: '', state: 'streaming' });
  else if (type === 'reasoning-start') {
    parts.push({ type: 'reasoning', id: chunk.id, text: '', state: 'streaming' });
  } else if (type === 'text-delta' || type === 'reasoning-delta') {
    const spoken = lastSpoken(parts);
    if (spoken === undefined) return false;
    spoken.text += chunk.delta;
  } else if (type === 'text-end' || type === 'reasoning-end') {
    const spoken = lastSpoken(parts);
    if (spoken === undefined) return false;
    spoken.state = 'done';
  } else if (type === 'data-output') parts.push(chunk);
  else return applyToCall(parts, chunk);
  return true;
}

function applyToCall(parts: UiPart[], chunk: UiChunk): boolean {
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
    return true;
  }
  const part = lastCall(
    parts,
    ({ toolCallId, approval }) =>
      ('toolCallId' in chunk && toolCallId === chunk.toolCallId) ||
      ('approvalId' in chunk && approval?.id === chunk.approvalId),
  );
  if (part !== undefined) changeCall(part, chunk);
  return part !== undefined;
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

// Browsers of 2022 have no findLast().

function lastSpoken(parts: readonly UiPart[]): Extract<UiPart, { text: string }> | undefined {
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index];
    if (part?.type === 'text' || part?.type === 'reasoning') return part;
  }
  return undefined;
}

function lastCall(
  parts: readonly UiPart[],
  isMeant: (part: ToolPart) => boolean,
): ToolPart | undefined {
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index];
    if (part?.type === 'dynamic-tool' && isMeant(part)) return part;
  }
  return undefined;
}
