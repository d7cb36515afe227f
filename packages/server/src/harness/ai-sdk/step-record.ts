import { type ModelMessage, type TextStreamPart, type ToolSet, ToolChoiceViolationError } from 'ai';
import type { Json } from '../../domain/json.ts';
import type { HarnessEvent, UsageReport } from '../../ports/harness.ts';
import { shownValue } from '../shown-value.ts';
import { Continuation } from './cut-message.ts';
import { type ToolOutput, failed } from './tools/agent-tool.ts';
import { askUserName } from './tools/ask-user.ts';
import { submitName } from './tools/submit-output.ts';
import type { Catalogue } from './tools/catalogue.ts';

export type StepEnd =
  | { readonly kind: 'finished'; readonly reason: string }
  /** The run was cancelled, or the model was silent for too long. */
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A call that the leg has to answer. */
export interface UnansweredCall {
  readonly toolCallId: string;
  readonly wireName: string;
  readonly input: Json;
}

interface SeenCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

type SeenResult = SeenCall & ToolOutput;

/** Usage of one request to the model. */
export type StepUsage = Required<Omit<UsageReport, 'type' | 'isPartial' | 'model' | 'cost'>>;

export interface RecordStep {
  readonly catalogue: Catalogue;
  readonly modelName: string;
  /** Emitted before the first text, to separate it from the text of earlier steps. */
  readonly separator: string;
  /** The text of this message before it was cut, if the step continues it. */
  readonly cut: string;
}

const notEnded: StepEnd = { kind: 'finished', reason: 'unknown' };

/** A model that has to call one tool and does something else has finished anyway: the leg decides what follows. */
function endOf(error: unknown): StepEnd {
  return ToolChoiceViolationError.isInstance(error)
    ? { kind: 'finished', reason: error.finishReason }
    : { kind: 'failed', error };
}

/** Collects the stream parts of one step. */
export class StepRecord {
  readonly #options: RecordStep;
  readonly #calls: SeenCall[] = [];
  readonly #results: SeenResult[] = [];
  readonly #continuation: Continuation;
  #text = '';
  #hasEmitted = false;
  end: StepEnd = notEnded;
  usage: StepUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };

  constructor(options: RecordStep) {
    this.#options = options;
    this.#continuation = new Continuation(options.cut);
  }

  /** Characters with which the model repeated what it had said before it was cut. */
  get repeated(): number {
    return this.#continuation.repeated;
  }

  get hasSpoken(): boolean {
    return this.#text !== '';
  }

  /** A request that was refused before the model began has used nothing. */
  get isUsagePartial(): boolean {
    const hasBegun = this.hasSpoken || this.#calls.length > 0;
    return this.end.kind === 'aborted' || (this.end.kind === 'failed' && hasBegun);
  }

  get hasResults(): boolean {
    return this.#results.length > 0;
  }

  /** Records a part and returns the event for it, if there is one. */
  take(part: TextStreamPart<ToolSet>): HarnessEvent | undefined {
    if (part.type === 'text-delta') return this.#speak(part.text);
    if (part.type === 'tool-call') return this.#call(part, part.invalid === true);
    // The SDK runs no tool: it reports here the calls that match no tool or no schema.
    if (part.type === 'tool-error') return this.#result(part, failed(String(part.error)));
    if (part.type === 'error') this.end = endOf(part.error);
    if (part.type === 'abort') this.end = { kind: 'aborted' };
    if (part.type !== 'finish-step') return undefined;
    const { inputTokens = 0, outputTokens = 0, inputTokenDetails, outputTokenDetails } = part.usage;
    const cachedInputTokens = inputTokenDetails.cacheReadTokens ?? 0;
    const reasoningTokens = outputTokenDetails.reasoningTokens ?? 0;
    this.usage = { inputTokens, outputTokens, cachedInputTokens, reasoningTokens };
    if (this.end === notEnded) this.end = { kind: 'finished', reason: part.finishReason };
    return undefined;
  }

  unanswered(): readonly UnansweredCall[] {
    const answered = new Set(this.#results.map(({ toolCallId }) => toolCallId));
    return this.#calls
      .filter(({ toolCallId }) => !answered.has(toolCallId))
      .map(({ toolCallId, toolName, input }) => ({
        toolCallId,
        wireName: toolName,
        input: jsonOf(input),
      }));
  }

  /** Messages of a step that broke off: the text, and the calls that got an error. */
  messages(): readonly ModelMessage[] {
    const calls = this.#results.map(({ toolCallId, toolName, input }) => ({
      type: 'tool-call' as const,
      toolCallId,
      toolName,
      input: typeof input === 'object' ? input : {},
    }));
    const text = this.#text === '' ? [] : [{ type: 'text' as const, text: this.#text }];
    if (text.length + calls.length === 0) return [];
    const results = this.#results.map(({ toolCallId, toolName, ok, text: value }) => ({
      type: 'tool-result' as const,
      toolCallId,
      toolName,
      output: { type: ok ? ('text' as const) : ('error-text' as const), value },
    }));
    return [
      { role: 'assistant', content: [...text, ...calls] },
      ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
    ];
  }

  /** The text that was held back because it could have been a repetition; call it when no more text follows. */
  heldBack(): HarnessEvent | undefined {
    return this.#emit(this.#continuation.end());
  }

  #speak(text: string): HarnessEvent | undefined {
    this.#text += text;
    return this.#emit(this.#continuation.take(text));
  }

  #emit(text: string): HarnessEvent | undefined {
    if (text === '') return undefined;
    const { separator, modelName } = this.#options;
    const before = this.#hasEmitted ? '' : separator;
    this.#hasEmitted = true;
    return { type: 'message_delta', text: before + text, model: modelName };
  }

  #call(call: SeenCall, isInvalid: boolean): HarnessEvent | undefined {
    this.#calls.push(call);
    // A person sees a question in the interaction, and an output at the end of the run (D-840).
    const isOwn = call.toolName === askUserName || call.toolName === submitName;
    if (isOwn && !isInvalid) return undefined;
    const { toolCallId: tool_call_id } = call;
    const data = { tool_call_id, name: this.#nameOf(call), input: shownValue(jsonOf(call.input)) };
    return { type: 'custom', name: 'tool_call', data };
  }

  #result(call: SeenCall, output: ToolOutput): HarnessEvent {
    const { toolCallId, toolName, input } = call;
    this.#results.push({ toolCallId, toolName, input, ...output });
    return toolResultEvent({ toolCallId, name: this.#nameOf(call) }, output);
  }

  #nameOf({ toolName }: SeenCall): string {
    return this.#options.catalogue.byWireName(toolName)?.name ?? toolName;
  }
}

export function toolResultEvent(
  { toolCallId, name }: { readonly toolCallId: string; readonly name: string },
  { ok, text }: ToolOutput,
): HarnessEvent {
  const output = shownValue(text);
  return {
    type: 'custom',
    name: 'tool_result',
    data: { tool_call_id: toolCallId, name, ok, output },
  };
}

/** The input of a call as JSON: what the SDK parsed may hold undefined. */
function jsonOf(input: unknown): Json {
  return JSON.parse(JSON.stringify(input ?? null)) as Json;
}
