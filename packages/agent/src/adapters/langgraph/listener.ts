import { current } from '../../current.ts';
import type { GraphSaver } from './saver.ts';
import type { Callbacks } from './peer.ts';

const { BaseCallbackHandler } = (await import(
  '@langchain/core/callbacks/base' satisfies string
)) as Callbacks;

interface Usage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly input_token_details?: { readonly cache_read?: number };
  readonly output_token_details?: { readonly reasoning?: number };
}

interface Output {
  readonly generations?: readonly (readonly { readonly message?: { usage_metadata?: Usage } }[])[];
}

interface Request {
  readonly namespace: string;
  readonly model: string;
  readonly isSilent: boolean;
}

/** Emits the text of models for the node that called them, and reports their usage. */
export class ModelListener extends BaseCallbackHandler {
  readonly name = 'convoke';
  /** So that text precedes the checkpoint of its node. */
  readonly awaitHandlers = true;
  /** Models stream for it, also where the node wants the whole answer. */
  readonly lc_prefer_streaming = true;
  readonly #saver: GraphSaver;
  readonly #requests = new Map<string, Request>();

  constructor(saver: GraphSaver) {
    super();
    this.#saver = saver;
  }

  handleChatModelStart(...args: readonly unknown[]): void {
    const [, , id, , , tags, metadata] = args as readonly [
      unknown,
      unknown,
      string,
      unknown,
      unknown,
      readonly string[] | undefined,
      Readonly<Record<string, string | undefined>> | undefined,
    ];
    this.#requests.set(id, {
      namespace: metadata?.['langgraph_checkpoint_ns'] ?? metadata?.['checkpoint_ns'] ?? '',
      model: metadata?.['ls_model_name'] ?? 'model',
      isSilent: tags?.some((tag) => tag === 'nostream' || tag === 'langsmith:nostream') === true,
    });
  }

  handleLLMNewToken(token: string, _index: unknown, id: string): void {
    const request = this.#requests.get(id);
    if (token === '' || request === undefined || request.isSilent) return;
    this.#saver.say(request.namespace, token);
  }

  handleLLMEnd(output: Output, id: string): void {
    const { model } = this.#requests.get(id) ?? { model: 'model' };
    this.#requests.delete(id);
    const used = output.generations?.[0]?.[0]?.message?.usage_metadata;
    if (used === undefined) return;
    current().leg.progress.use({
      type: 'usage',
      model,
      input_tokens: used.input_tokens ?? 0,
      output_tokens: used.output_tokens ?? 0,
      cached_input_tokens: used.input_token_details?.cache_read ?? 0,
      reasoning_tokens: used.output_token_details?.reasoning ?? 0,
    });
  }

  handleLLMError(_error: unknown, id: string): void {
    this.#requests.delete(id);
  }
}
