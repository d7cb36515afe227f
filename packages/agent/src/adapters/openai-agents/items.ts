import { current } from '../../current.ts';
import type { Json, JsonObject } from '../../json.ts';

/** The last event of a streamed answer has the whole answer. */
export interface StoredResponse {
  readonly id?: string;
  readonly usage: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly inputTokensDetails?: { readonly cached_tokens?: number };
    readonly outputTokensDetails?: { readonly reasoning_tokens?: number };
  };
  readonly output: readonly JsonObject[];
}

export function shapeOf(item: object): Json {
  const { role, type, callId } = item as { role?: string; type?: string; callId?: string };
  return [role ?? type ?? '', callId ?? ''];
}

export function inputOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

export function textOf({ output }: StoredResponse): string {
  const messages = output.filter(({ type }) => type === 'message');
  const contents = messages.flatMap(({ content }) => content as readonly { text?: string }[]);
  return contents.map(({ text = '' }) => text).join('');
}

export function reportUsage(model: string, { usage }: StoredResponse): void {
  current().ctx.usage({
    model,
    inputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    cachedInputTokens: usage.inputTokensDetails?.cached_tokens ?? 0,
    reasoningTokens: usage.outputTokensDetails?.reasoning_tokens ?? 0,
  });
}
