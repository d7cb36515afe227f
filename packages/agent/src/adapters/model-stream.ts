import type { Usage } from '../agent.ts';
import { current } from '../current.ts';
import type { Json, JsonObject } from '../json.ts';
import type { StepCall } from '../steps.ts';
import { asError, plain, withRetries, revived } from './model-answer.ts';

/** The part of the AI SDK's language model that the adapters use. Mastra takes the same models. */
export interface StreamingModel {
  readonly specificationVersion: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<object>;
  doGenerate(options: never): PromiseLike<object>;
}

export interface DurableModelOptions {
  /** The model's text is not part of the answer, and readers do not see it. */
  readonly silent?: boolean;
}

type Part = JsonObject & { readonly type: string; readonly delta?: string };
type Options = { readonly prompt: readonly Message[]; readonly abortSignal?: AbortSignal };
interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly toolCallId?: string }[];
}

/**
 * Makes each request of a model a step (D-178). Readers see the answer while it is streamed; it is stored as a whole,
 * and later legs get the stored one. The framework gets it after it is stored, so that no tool runs for an answer that
 * could be lost.
 */
export function durableModel<Model extends StreamingModel>(
  model: Model,
  { silent = false }: DurableModelOptions = {},
): Model {
  const methods: Readonly<Record<string, unknown>> = {
    doStream: (options: Options) => stream(model, options, silent),
    doGenerate: (options: Options) => generate(model, options),
  };
  return new Proxy(model, {
    get: (target, key) => methods[String(key)] ?? Reflect.get(target, key, target),
  });
}

async function stream(model: StreamingModel, options: Options, isSilent: boolean) {
  const { ctx, steps } = current();
  const isHeard = !isSilent && !steps.isNested;
  const parts = (await request(model, options, async (own) => {
    const { stream } = (await model.doStream(own as never)) as { stream: AsyncIterable<Part> };
    return { parts: stream, say: (text: string) => isHeard && ctx.say(text) };
  })) as readonly Part[];
  report(model, parts.find(({ type }) => type === 'finish')?.['usage']);
  return { stream: ReadableStream.from(parts.map(revived)) };
}

async function generate(model: StreamingModel, options: Options) {
  const { steps } = current();
  const result = (await steps.request(requestOf(model, options), (call) =>
    withRetries(call, async () => {
      const {
        request: _,
        response,
        ...rest
      } = (await model.doGenerate(withSignal(options, call) as never)) as {
        request?: unknown;
        response?: JsonObject;
      };
      const { headers: __, body: ___, ...metadata } = response ?? {};
      return plain({ ...rest, response: metadata });
    }),
  )) as JsonObject;
  report(model, result['usage']);
  return { ...result, response: revived((result['response'] ?? {}) as JsonObject) };
}

interface ModelOutput {
  readonly parts: AsyncIterable<Part>;
  readonly say: (text: string) => void;
}

function request(
  model: StreamingModel,
  options: Options,
  open: (options: Options) => Promise<ModelOutput>,
): Promise<unknown> {
  return current().steps.request(requestOf(model, options), async (call) => {
    const { parts, say } = await withRetries(call, () => open(withSignal(options, call)));
    const kept: Part[] = [];
    for await (const part of parts) {
      if (part.type === 'error') throw asError(part['error']);
      if (part.type === 'text-delta') say(part.delta ?? '');
      keep(kept, part);
    }
    return kept;
  });
}

/** Joins the deltas of one block: frameworks need their text, not their number. */
function keep(kept: Part[], part: Part): void {
  if (part.type === 'raw' || part.type === 'ping') return;
  const last = kept.at(-1);
  const isMore =
    part.type.endsWith('-delta') && last?.type === part.type && last['id'] === part['id'];
  const copy = plain(part) as Part;
  if (!isMore) kept.push(copy);
  else kept[kept.length - 1] = { ...last, ...copy, delta: `${last.delta}${copy.delta}` };
}

function requestOf({ modelId: model }: StreamingModel, { prompt }: Options) {
  return { model, shape: prompt.map(shapeOf) };
}

function shapeOf({ role, content }: Message): Json {
  const parts = typeof content === 'string' ? [] : content;
  const ids = new Set(parts.flatMap(({ toolCallId }) => toolCallId ?? []));
  return [role, ...[...ids].toSorted((a, b) => a.localeCompare(b))];
}

function withSignal(options: Options, { signal }: StepCall): Options {
  const { abortSignal } = options;
  return { ...options, abortSignal: abortSignal ? AbortSignal.any([abortSignal, signal]) : signal };
}

interface ModelUsage {
  readonly inputTokens: { readonly total?: number; readonly cacheRead?: number };
  readonly outputTokens: { readonly total?: number; readonly reasoning?: number };
}

function report({ modelId: model }: StreamingModel, used: unknown): void {
  if (used === undefined) return;
  const { inputTokens: input, outputTokens: output } = used as ModelUsage;
  const usage: Usage = {
    model,
    inputTokens: input.total ?? 0,
    outputTokens: output.total ?? 0,
    cachedInputTokens: input.cacheRead ?? 0,
    reasoningTokens: output.reasoning ?? 0,
  };
  current().ctx.usage(usage);
}
