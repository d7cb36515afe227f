import { type LanguageModel, type ModelMessage, type SystemModelMessage, streamText } from 'ai';
import type { HarnessEvent } from '../../ports/harness.ts';
import { type RecordStep, type StepEnd, StepRecord, type UnansweredCall } from './step-record.ts';

// Stops the SDK from printing warnings on every request; real problems come as errors.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** Calls of one step that run at the same time. */
const callsAtOnce = 4;

export interface StepRequest extends RecordStep {
  readonly model: LanguageModel;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly retries: number;
  /** The step fails when the model sends nothing for this long. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

export interface StepResult {
  readonly end: StepEnd;
  /** Messages of the model and results of the tools; of a step that broke off, those received until then. */
  readonly messages: readonly ModelMessage[];
  readonly unanswered: readonly UnansweredCall[];
  /** Whether there are tool results to send to the model. */
  readonly hasResults: boolean;
  readonly hasSpoken: boolean;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** Asks the model once, runs the tool calls that need no approval, and emits events as they happen. */
export async function* runStep(request: StepRequest): AsyncGenerator<HarnessEvent, StepResult> {
  const record = new StepRecord(request);
  const result = startStep(request);
  try {
    for await (const part of result.stream) {
      const event = record.take(part);
      if (event !== undefined) yield event;
    }
  } catch (error) {
    // An HTTP error comes as a part of the stream; a broken connection is thrown.
    record.end = request.signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error };
  }
  const { end, hasResults, hasSpoken, usage } = record;
  const messages = end.kind === 'finished' ? await result.responseMessages : record.messages();
  return { end, messages, unanswered: record.unanswered(), hasResults, hasSpoken, usage };
}

function startStep({ model, system, messages, catalogue, ...request }: StepRequest) {
  return streamText({
    model,
    instructions: instructionsOf(system),
    messages: [...messages],
    tools: catalogue.toolSet,
    toolCallConcurrency: callsAtOnce,
    maxRetries: request.retries,
    timeout: { firstChunkMs: request.silenceMs, chunkMs: request.silenceMs },
    abortSignal: request.signal,
    // The memory keeps the conversation and sends it whole, so the provider need not store it.
    providerOptions: { openai: { store: false } },
    // The stream reports the error; without this handler the SDK prints it too.
    onError: () => undefined,
  });
}

/** The system prompt is the same in every step, so providers may cache it; Anthropic does so only on request. */
function instructionsOf(content: string): SystemModelMessage {
  const cacheControl = { type: 'ephemeral' };
  return { role: 'system', content, providerOptions: { anthropic: { cacheControl } } };
}
