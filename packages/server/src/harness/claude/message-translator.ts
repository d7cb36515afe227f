import type { Agent } from '../../domain/agent.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { HarnessEvent, LegEnd } from '../../ports/harness.ts';
import { LegFailure } from '../leg-failure.ts';
import { isShort } from '../shown-value.ts';
import type { MessageCalls } from './message-calls.ts';
import { type ClaudeMessage, type ClaudeResult, toolResultsIn, toolUsesIn } from './messages.ts';
import { toolNameOf } from './settings.ts';
import type { Deferred } from './state.ts';
import { completedWithOutput, outputGivenUp, outputToolName } from './structured-output.ts';

const detailCharactersMax = 64 * 1024;
const callsMax = 10_000;

export interface Translation {
  readonly events: readonly HarnessEvent[];
  readonly result?: {
    readonly session: string;
    readonly end: LegEnd;
    readonly deferred: Omit<Deferred, 'run'> | undefined;
    readonly isError: boolean;
  };
}

export interface MessageTranslatorParts {
  readonly agent: Agent;
  readonly calls: MessageCalls;
}

type ApiRetry = Extract<ClaudeMessage, { subtype: 'api_retry' }>;

/** Translates Claude's messages into events and the result of the leg. */
export class MessageTranslator {
  readonly #parts: MessageTranslatorParts;
  /** Tool names by call id. */
  readonly #calls = new Map<string, string>();
  #model: string | undefined;

  constructor(parts: MessageTranslatorParts) {
    this.#parts = parts;
  }

  translate(message: ClaudeMessage): Translation {
    switch (message.type) {
      case 'system':
        return {
          events: message.subtype === 'init' ? this.#begin(message) : [retryEvent(message)],
        };
      case 'stream_event':
        return { events: this.#stream(message) };
      case 'assistant':
        return {
          events: toolUsesIn(message).flatMap(({ id, name, input }) => {
            if (this.#calls.size < callsMax) this.#calls.set(id, name);
            // Readers get the output with the end of the run.
            if (this.#isOutput(name)) return [];
            const shown = { tool_call_id: id, name: toolNameOf(name), ...withinLimit({ input }) };
            return [custom('tool_call', shown)];
          }),
        };
      case 'user':
        return {
          events: toolResultsIn(message).flatMap(({ tool_use_id, is_error, content = null }) => {
            const isError = is_error === true;
            const details = withinLimit({ content });
            if (this.#isOutput(this.#calls.get(tool_use_id))) {
              return isError ? [custom('output_refused', details)] : [];
            }
            return [
              custom('tool_result', { tool_call_id: tool_use_id, is_error: isError, ...details }),
            ];
          }),
        };
      case 'result':
        return this.#end(message);
    }
  }

  #begin({ model, tools, skills, mcp_servers }: Extract<ClaudeMessage, { subtype: 'init' }>) {
    this.#model = model;
    const servers = mcp_servers.map(({ name, status }) => ({ name, status }));
    const data: JsonObject = { model, tools, skills, mcp_servers: servers };
    return [custom('init', data)];
  }

  #stream(message: Extract<ClaudeMessage, { type: 'stream_event' }>): readonly HarnessEvent[] {
    // Messages of subagents are not part of the answer.
    if (typeof message.parent_tool_use_id === 'string') return [];
    const { calls, agent } = this.#parts;
    const { event } = message;
    switch (event.type) {
      case 'message_start':
        calls.start();
        this.#model = event.message.model ?? this.#model;
        return [];
      case 'message_stop':
        calls.end();
        return [];
      case 'content_block_start': {
        const { type, id } = event.content_block;
        if (type === 'tool_use' && id !== undefined) calls.add(id);
        return [];
      }
      case 'content_block_delta': {
        const { type, text } = event.delta;
        if (type !== 'text_delta' || text === undefined) return [];
        const model = agent.model ?? this.#model;
        return [{ type: 'message_delta', text, ...(model !== undefined && { model }) }];
      }
    }
  }

  #isOutput(name: string | undefined): boolean {
    return name === outputToolName && this.#parts.agent.output !== undefined;
  }

  /** The name of a call that Claude has made. */
  nameOf(id: string): string | undefined {
    return this.#calls.get(id);
  }

  #end(result: ClaudeResult): Translation {
    const { usage, session_id, deferred_tool_use: deferred, total_cost_usd: cost } = result;
    const inputTokens =
      usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
    return {
      events: [
        {
          type: 'usage',
          inputTokens,
          outputTokens: usage.output_tokens,
          cachedInputTokens: usage.cache_read_input_tokens,
          ...(this.#model !== undefined && { model: this.#model }),
          ...(cost !== undefined && {
            cost: { micros: Math.ceil(cost * 1e6), currency: 'USD' },
          }),
        },
      ],
      result: {
        session: session_id,
        isError: result.is_error,
        deferred:
          deferred === undefined
            ? undefined
            : { id: deferred.id, name: deferred.name, input: deferred.input },
        end:
          deferred === undefined
            ? endOf(result, this.#parts.agent)
            : { type: 'end', outcome: 'waiting' },
      },
    };
  }
}

function endOf(result: ClaudeResult, agent: Agent): LegEnd {
  // A result of subtype `success` may still be an error: the model's provider refused.
  if (!result.is_error || result.subtype === outputGivenUp) {
    return completedWithOutput(agent, result.structured_output);
  }
  if (result.subtype === 'error_max_turns') {
    return new LegFailure('agent_error', "Claude used up the agent's limits.max_steps.").end;
  }
  const reason = result.result || result.errors.join('; ') || result.subtype;
  const isModelError = typeof result.api_error_status === 'number' || /API Error/i.test(reason);
  return new LegFailure(isModelError ? 'model_error' : 'agent_error', `Claude failed: ${reason}`)
    .end;
}

/** Claude retries for minutes after any error. A refused key fails the run at once: retrying cannot help. */
function retryEvent({ attempt, error_status, error }: ApiRetry): HarnessEvent {
  if (error_status === 401 || error_status === 403) {
    throw new LegFailure(
      'model_error',
      `The model's provider refused the API key (${error_status}): check ANTHROPIC_API_KEY.`,
    );
  }
  return custom('api_retry', { attempt, status: error_status ?? null, error });
}

function custom(name: string, data: JsonObject): HarnessEvent {
  return { type: 'custom', name, data };
}

function withinLimit(details: Readonly<Record<string, Json>>): JsonObject {
  return isShort(details, detailCharactersMax) ? details : { details_dropped: true };
}
