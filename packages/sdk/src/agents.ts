import type { AgentTypes, AnyAgents, InputOf } from './agent-types.ts';
import { ServerError } from './errors.ts';
import { PlainAgents } from './generated/agents.ts';
import { EventStream } from './runs/event-stream.ts';
import { RunHandle } from './runs/run.ts';
import { inputOf } from './runs/runs.ts';
import { type LabelledOptions, newKey } from './transport/idempotency.ts';
import { at } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

export interface InvokeOptions extends LabelledOptions {
  /** The user of your product that the new session is for. */
  readonly endUser?: string | undefined;
}

/** The agents that are enabled for the workspace. */
export class Agents<Types extends AgentTypes<Types> = AnyAgents> extends PlainAgents {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * Creates a session and starts a run in it with one request, which is also the first event stream.
   * Consume it soon with `follow()`, `text()` or `wait()`.
   *
   * @example
   * const run = await convoke.agents.invoke('echo', 'Hello');
   * console.log(await run.text());
   */
  async invoke<Name extends keyof Types & string>(
    agentName: Name,
    input: InputOf<Types[Name]>,
    options: InvokeOptions = {},
  ): Promise<RunHandle<Types[Name]['output']>> {
    const { idempotencyKey = newKey(), labels, endUser, signal } = options;
    const opened = await EventStream.open(this.#transport, {
      method: 'POST',
      path: at`/v1/agents/${agentName}/runs`,
      json: {
        input: inputOf(input, {}),
        labels,
        end_user: endUser,
        idempotency_key: idempotencyKey,
      },
      repeatable: 'always',
      signal,
    });
    const id = opened.headers.get('x-run-id');
    const sessionId = opened.headers.get('x-session-id');
    if (id !== null && sessionId !== null) {
      return new RunHandle(this.#transport, { id, sessionId }, opened);
    }
    opened.close();
    // In a cross-origin page, the server must expose the two headers.
    throw new ServerError('The response does not name the run.', { code: 'invalid_response' });
  }
}
