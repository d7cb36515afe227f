import { type LanguageModel, type ModelMessage, type SystemModelMessage, streamText } from 'ai';
import type { HarnessEvent } from '../../ports/harness.ts';
import { type RecordStep, type StepEnd, StepRecord, type UnansweredCall } from './step-record.ts';

// It would print what it thinks of a model, on every request; what matters comes as an error.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** Calls of one step that run at the same time. */
const callsAtOnce = 4;

export interface StepRequest extends RecordStep {
  readonly model: LanguageModel;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly retries: number;
  /** A model that is silent for longer has failed. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

export interface StepResult {
  readonly end: StepEnd;
  /** What the model said and the tools gave back; of a step that broke off, what there was of it. */
  readonly messages: readonly ModelMessage[];
  readonly unanswered: readonly UnansweredCall[];
  /** Whether tools gave the model something to go on with. */
  readonly hasResults: boolean;
  readonly hasSpoken: boolean;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** Asks the model once, runs what it may run of the tools it calls, and tells all of it as it happens. */
export async function* runStep(request: StepRequest): AsyncGenerator<HarnessEvent, StepResult> {
  const record = new StepRecord(request);
  const result = startStep(request);
  try {
    for await (const part of result.stream) {
      const event = record.take(part);
      if (event !== undefined) yield event;
    }
  } catch (error) {
    // An HTTP error comes as a part of the stream, a connection that breaks is thrown.
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
    // The conversation is kept here and sent whole: the provider has no need to keep it as well.
    providerOptions: { openai: { store: false } },
    // It is told by the stream; without this the SDK prints it.
    onError: () => undefined,
  });
}

/** The same in every step of every run of the session: worth the provider's remembering (Anthropic must be told). */
function instructionsOf(content: string): SystemModelMessage {
  const cacheControl = { type: 'ephemeral' };
  return { role: 'system', content, providerOptions: { anthropic: { cacheControl } } };
}
