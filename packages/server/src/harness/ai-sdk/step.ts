import { type LanguageModel, type ModelMessage, type SystemModelMessage, streamText } from 'ai';
import type { HarnessEvent } from '../../ports/harness.ts';
import { mended, requestToContinue } from './cut-message.ts';
import {
  type RecordStep,
  type StepEnd,
  StepRecord,
  type StepUsage,
  type UnansweredCall,
} from './step-record.ts';
import { submitName } from './tools/submit-output.ts';

// Stops the SDK from printing warnings on every request; real problems come as errors.
globalThis.AI_SDK_LOG_WARNINGS = false;

export interface StepRequest extends RecordStep {
  readonly model: LanguageModel;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly retries: number;
  /** The step fails when the model sends nothing for this long. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** The tokens that a ceiling leaves; undefined without one. */
  readonly outputTokens: number | undefined;
  /** The model has to submit its output now. */
  readonly mustSubmit: boolean;
}

export interface StepResult {
  readonly end: StepEnd;
  /** What the model said and called; of a step that broke off, what was received until then. */
  readonly messages: readonly ModelMessage[];
  readonly unanswered: readonly UnansweredCall[];
  /** Whether calls that match no tool or no schema got an error, to be sent to the model. */
  readonly hasResults: boolean;
  readonly hasSpoken: boolean;
  readonly usage: StepUsage;
  /** Whether the message was cut, so that its usage is unknown. */
  readonly isUsagePartial: boolean;
}

/** Asks the model once and emits what it says and calls. No tool is run: its calls come back as `unanswered`. */
export async function* runStep(request: StepRequest): AsyncGenerator<HarnessEvent, StepResult> {
  const record = new StepRecord(request);
  const result = startStep(request);
  try {
    for await (const part of result.stream) {
      if (part.type === 'tool-call') yield* heldBack(record);
      const event = record.take(part);
      if (event !== undefined) yield event;
    }
  } catch (error) {
    // An HTTP error comes as a part of the stream; a broken connection is thrown.
    record.end = request.signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error };
  }
  yield* heldBack(record);
  const { end, hasResults, usage, repeated } = record;
  const { cut } = request;
  const added = end.kind === 'finished' ? await result.responseMessages : record.messages();
  const messages = isContinued(request) ? mended({ cut, repeated }, added) : added;
  const hasSpoken = record.hasSpoken || cut !== '';
  const unanswered = record.unanswered();
  const { isUsagePartial } = record;
  return { end, messages, unanswered, hasResults, hasSpoken, usage, isUsagePartial };
}

function* heldBack(record: StepRecord): Generator<HarnessEvent, void> {
  const event = record.heldBack();
  if (event !== undefined) yield event;
}

/** Providers refuse messages of space only, and there is nothing to continue in one. */
function isContinued({ cut }: Pick<StepRequest, 'cut'>): boolean {
  return cut.trim() !== '';
}

function startStep({ model, system, messages, catalogue, ...request }: StepRequest) {
  return streamText({
    model,
    instructions: instructionsOf(system),
    messages: [...messages, ...(isContinued(request) ? requestToContinue(request.cut) : [])],
    tools: catalogue.toolSet,
    ...(request.mustSubmit && { toolChoice: { type: 'tool', toolName: submitName } }),
    maxRetries: request.retries,
    timeout: { firstChunkMs: request.silenceMs, chunkMs: request.silenceMs },
    abortSignal: request.signal,
    ...outputCap(request),
    // The memory keeps the conversation and sends it whole, so the provider need not store it.
    providerOptions: { openai: { store: false } },
    // The stream reports the error; without this handler the SDK prints it too.
    onError: () => undefined,
  });
}

/** Models refuse a number above their own, which differs; what is left matters only when it is small. */
const outputCapMax = 32_000;

function outputCap({ outputTokens }: Pick<StepRequest, 'outputTokens'>): {
  maxOutputTokens?: number;
} {
  return outputTokens === undefined || outputTokens > outputCapMax
    ? {}
    : { maxOutputTokens: outputTokens };
}

/** The system prompt is the same in every step, so providers may cache it; Anthropic does so only on request. */
function instructionsOf(content: string): SystemModelMessage {
  const cacheControl = { type: 'ephemeral' };
  return { role: 'system', content, providerOptions: { anthropic: { cacheControl } } };
}
