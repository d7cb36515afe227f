import { LegFailure } from '../leg-failure.ts';
import { type Agent, needsApproval } from '../../domain/agent.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { HarnessEvent, LegEnd } from '../../ports/harness.ts';
import type { Gate } from './permission-hook.ts';
import { type ClaudeMessage, type ClaudeResult, toolResultsIn, toolUsesIn } from './messages.ts';
import { toolNameOf } from './settings.ts';
import type { Deferred } from './state.ts';
import type { TurnWatch } from './message-calls.ts';

const detailCharactersMax = 64 * 1024;
const callsMax = 10_000;

export interface Translation {
  readonly events: readonly HarnessEvent[];
  readonly result?: {
    readonly session: string;
    readonly end: LegEnd;
    readonly deferred: Omit<Deferred, 'run'> | undefined;
  };
}

export interface TellingParts {
  readonly agent: Agent;
  readonly gate: Gate;
  readonly watch: TurnWatch;
  /** Waits still, as far as anybody knows, until Claude has come to a result. */
  readonly deferred: Deferred | null;
}

type ApiRetry = Extract<ClaudeMessage, { subtype: 'api_retry' }>;

/** What Claude's messages mean for the run. */
export class MessageTranslator {
  readonly #parts: TellingParts;
  /** Names of the calls that were made. */
  readonly #calls = new Map<string, string>();
  #model: string | undefined;

  constructor(parts: TellingParts) {
    this.#parts = parts;
  }

  take(message: ClaudeMessage): Translation {
    switch (message.type) {
      case 'system':
        return {
          events: message.subtype === 'init' ? this.#begin(message) : [retried(message)],
        };
      case 'stream_event':
        return { events: this.#stream(message) };
      case 'assistant':
        return {
          events: toolUsesIn(message).map(({ id, name, input }) => {
            if (this.#calls.size < callsMax) this.#calls.set(id, name);
            return custom('tool_call', {
              tool_call_id: id,
              name: toolNameOf(name),
              ...fit({ input }),
            });
          }),
        };
      case 'user':
        return {
          events: toolResultsIn(message).map(({ tool_use_id, is_error, content = null }) => {
            this.#verify(tool_use_id);
            const isError = is_error === true;
            return custom('tool_result', {
              tool_call_id: tool_use_id,
              is_error: isError,
              ...fit({ content }),
            });
          }),
        };
      case 'result':
        return this.#end(message);
    }
  }

  #begin({
    session_id,
    model,
    tools,
    skills,
    mcp_servers,
  }: Extract<ClaudeMessage, { subtype: 'init' }>) {
    this.#model = model;
    const servers = mcp_servers.map(({ name, status }) => ({ name, status }));
    const data: JsonObject = { model, tools, skills, mcp_servers: servers };
    return [
      // From here on the session is there, whatever becomes of this leg.
      {
        type: 'checkpoint',
        state: { session: session_id, deferred: this.#parts.deferred },
      } as const,
      custom('init', data),
    ];
  }

  #stream(message: Extract<ClaudeMessage, { type: 'stream_event' }>): readonly HarnessEvent[] {
    // What subagents say among themselves is not the answer.
    if (typeof message.parent_tool_use_id === 'string') return [];
    const { watch, agent } = this.#parts;
    const { event } = message;
    switch (event.type) {
      case 'message_start':
        watch.begin();
        this.#model = event.message.model ?? this.#model;
        return [];
      case 'message_stop':
        watch.end();
        return [];
      case 'content_block_start': {
        const { type, id } = event.content_block;
        if (type === 'tool_use' && id !== undefined) watch.call(id);
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

  /** A call that was made without having come through the gate ends everything. */
  #verify(id: string): void {
    const { gate, agent } = this.#parts;
    const name = this.#calls.get(id);
    if (name === undefined || gate.hasJudged(id) || !needsApproval(agent, toolNameOf(name))) return;
    throw new LegFailure(
      'agent_error',
      `Claude used ${toolNameOf(name)} without asking, which its settings in the workspace may have allowed.`,
    );
  }

  #end(result: ClaudeResult): Translation {
    const { usage, session_id, deferred_tool_use: deferred } = result;
    const inputTokens =
      usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
    return {
      events: [{ type: 'usage', inputTokens, outputTokens: usage.output_tokens }],
      result: {
        session: session_id,
        deferred:
          deferred === undefined
            ? undefined
            : { id: deferred.id, name: deferred.name, input: deferred.input },
        end: deferred === undefined ? endOf(result) : { type: 'end', outcome: 'waiting' },
      },
    };
  }
}

function endOf(result: ClaudeResult): LegEnd {
  // An answer that says success may still be an error: the model's provider refused.
  if (!result.is_error) return { type: 'end', outcome: 'completed' };
  if (result.subtype === 'error_max_turns') {
    return new LegFailure('agent_error', "Claude used up the agent's limits.max_steps.").end;
  }
  const said = result.result || result.errors.join('; ') || result.subtype;
  const isOfModel = typeof result.api_error_status === 'number' || /API Error/i.test(said);
  return new LegFailure(isOfModel ? 'model_error' : 'agent_error', `Claude failed: ${said}`).end;
}

/** Claude tries again for minutes, whatever the reason: a key that is refused will be refused again. */
function retried({ attempt, error_status, error }: ApiRetry): HarnessEvent {
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

function fit(details: Readonly<Record<string, Json>>): JsonObject {
  return JSON.stringify(details).length > detailCharactersMax ? { details_dropped: true } : details;
}
