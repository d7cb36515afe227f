import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { text as bodyOf } from 'node:stream/consumers';
import {
  AGENT_CARD_PATH,
  AgentCard,
  type Artifact,
  type Message,
  type Part,
  Role,
  type Task,
  TaskState,
  formatSSEEvent,
} from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
  UnauthenticatedUser,
} from '@a2a-js/sdk/server';

/** One action of the agent; a message is a JSON list of them, or the answer to a question. */
export type Step =
  | { say: string }
  | { status: string }
  | { data: unknown }
  | { file: string }
  | { ask: string }
  | { sayAnswer: true }
  /** Repeats the earlier messages of this conversation. */
  | { recall: true }
  | { work: true }
  /** Waits until the test releases it. */
  | { hold: true }
  /** Breaks the connection and continues. */
  | { drop: true }
  | { end: 'failed' | 'rejected' | 'auth'; words: string }
  /** Answers with a message, without a task. */
  | { reply: string }
  | { crash: string };

export interface A2aServerOptions {
  readonly isStreaming?: boolean;
  /** Implements version 0.3 of the protocol. */
  readonly isLegacy?: boolean;
  readonly token?: string;
  /** The card says that clients exchange their credentials for a token at `/token`. */
  readonly hasTokens?: boolean;
  /** URL of the agent in its card. */
  readonly interfaceUrl?: string;
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** A real A2A server on the protocol's own SDK, whose agent executes the actions of its message. */
export class A2aServer {
  readonly url: string;
  /** Tasks in progress. */
  readonly working = new Set<string>();
  /** Resolved by the test: tasks that hold continue. */
  readonly released = Promise.withResolvers<void>();
  /** Every call, by its method. */
  readonly calls: string[] = [];
  /** Every message, as the wire had it. */
  readonly messages: { readonly parts?: unknown }[] = [];
  readonly #server;

  private constructor(server: ReturnType<typeof createServer>, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(options: A2aServerOptions = {}): Promise<A2aServer> {
    const server = createServer();
    server.listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const started = new A2aServer(server, address.port);
    started.#serve(options);
    return started;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(options: A2aServerOptions): void {
    const { isStreaming = true, isLegacy = false, token, interfaceUrl, onRequest } = options;
    const card = AgentCard.fromJSON({
      name: 'tester',
      description: 'Executes its steps',
      version: '1',
      supportedInterfaces: [
        {
          url: interfaceUrl ?? `${this.url}/rpc`,
          protocolBinding: 'JSONRPC',
          protocolVersion: '1.0',
        },
      ],
      capabilities: { streaming: isStreaming },
      ...(options.hasTokens === true && {
        securitySchemes: {
          oauth: {
            oauth2SecurityScheme: {
              flows: { clientCredentials: { tokenUrl: `${this.url}/token`, scopes: {} } },
            },
          },
        },
      }),
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
    });
    const streams = new Set<ServerResponse>();
    const executor = new ScriptedExecutor(this, () => {
      for (const stream of streams) stream.destroy();
    });
    const requests = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
    const handler = isLegacy
      ? new LegacyJsonRpcTransportHandler(requests)
      : new JsonRpcTransportHandler(requests);
    const shown = isLegacy ? legacyCard(`${this.url}/rpc`) : AgentCard.toJSON(card);
    this.#server.on('request', (request, response) => {
      const answer = async () => {
        if (onRequest?.(request, response) === true) return;
        if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
          response.writeHead(401).end();
          return;
        }
        if (request.url === `/${AGENT_CARD_PATH}`) {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(shown));
          return;
        }
        const body = JSON.parse(await bodyOf(request));
        this.calls.push(body.method);
        if (body.params?.message !== undefined) this.messages.push(body.params.message);
        const context = new ServerCallContext({ user: new UnauthenticatedUser() });
        const result = await handler.handle(body, context);
        if (!(Symbol.asyncIterator in result)) {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(result));
          return;
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        streams.add(response);
        for await (const event of result) {
          if (!response.destroyed) response.write(formatSSEEvent(event));
        }
        response.end();
      };
      answer().catch(() => response.destroy());
    });
  }
}

function legacyCard(url: string): object {
  return {
    protocolVersion: '0.3.0',
    name: 'tester',
    description: 'Executes its steps',
    version: '1',
    url,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}

/** Those of a message with data, whose text is no list. */
function stepsIn({ parts }: Message): readonly Step[] | undefined {
  const data = parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []));
  return data.find((value) => Array.isArray(value?.steps))?.steps;
}

class ScriptedExecutor implements AgentExecutor {
  readonly #working: Set<string>;
  readonly #drop: () => void;
  readonly #waiting = new Map<string, readonly Step[]>();
  readonly #said = new Map<string, string[]>();
  readonly #cancels = new Map<string, () => void>();
  readonly #released: PromiseWithResolvers<void>;

  constructor({ working, released }: Pick<A2aServer, 'working' | 'released'>, drop: () => void) {
    this.#working = working;
    this.#released = released;
    this.#drop = drop;
  }

  readonly execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = request;
    const words = userMessage.parts.map(textOf).join('');
    const before = this.#said.get(contextId) ?? [];
    this.#said.set(contextId, [...before, words]);
    const waiting = this.#waiting.get(taskId);
    const steps = waiting ?? stepsIn(userMessage) ?? JSON.parse(words);
    const [first] = steps;
    if (first !== undefined && 'reply' in first) {
      bus.publish(AgentEvent.message(messageOf(first.reply, { taskId: '', contextId })));
      bus.finished();
      return;
    }
    if (task === undefined) bus.publish(AgentEvent.task(taskOf(taskId, contextId)));
    else bus.publish(AgentEvent.task(task));
    const context = { taskId, contextId, bus, answer: words, before };
    for (const [index, step] of steps.entries()) {
      if (await this.#play(step, context, steps.slice(index + 1))) {
        bus.finished();
        return;
      }
    }
    this.#setState(context, TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  };

  readonly cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    this.#cancels.get(taskId)?.();
    this.#waiting.delete(taskId);
    this.#setState({ taskId, contextId: '', bus }, TaskState.TASK_STATE_CANCELED);
    bus.finished();
  };

  /** Returns whether the task stopped working. */
  async #play(step: Step, context: StepContext, rest: readonly Step[]): Promise<boolean> {
    if ('say' in step)
      for (const word of step.say.match(/\S+\s*/g) ?? []) append(context, textPart(word));
    else if ('sayAnswer' in step) append(context, textPart(`You said ${context.answer}`));
    else if ('recall' in step) append(context, textPart(JSON.stringify(context.before)));
    else if ('data' in step) append(context, part({ $case: 'data', value: step.data }));
    else if ('file' in step) {
      append(context, { ...part({ $case: 'url', value: step.file }), filename: 'a.txt' });
    } else if ('status' in step) this.#setState(context, TaskState.TASK_STATE_WORKING, step.status);
    else if ('drop' in step) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#drop();
    } else if ('crash' in step) throw new Error(step.crash);
    else if ('ask' in step) {
      this.#waiting.set(context.taskId, rest);
      this.#setState(context, TaskState.TASK_STATE_INPUT_REQUIRED, step.ask);
      return true;
    } else if ('end' in step) {
      const states = {
        failed: TaskState.TASK_STATE_FAILED,
        rejected: TaskState.TASK_STATE_REJECTED,
        auth: TaskState.TASK_STATE_AUTH_REQUIRED,
      };
      this.#setState(context, states[step.end], step.words);
      return true;
    } else if ('hold' in step) {
      await this.#released.promise;
    } else if ('work' in step) {
      this.#working.add(context.taskId);
      append(context, textPart('working'));
      await new Promise<void>((resolve) => this.#cancels.set(context.taskId, resolve));
      this.#working.delete(context.taskId);
      return true;
    }
    return false;
  }

  #setState({ taskId, contextId, bus }: TaskRef, state: TaskState, words?: string): void {
    const message = words === undefined ? undefined : messageOf(words, { taskId, contextId });
    const status = { state, message, timestamp: undefined };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
  }
}

interface TaskRef {
  readonly taskId: string;
  readonly contextId: string;
  readonly bus: ExecutionEventBus;
}

interface StepContext extends TaskRef {
  readonly answer: string;
  readonly before: readonly string[];
}

function append({ taskId, contextId, bus }: StepContext, piece: Part): void {
  const artifact: Artifact = {
    artifactId: `${taskId}-answer`,
    name: '',
    description: '',
    parts: [piece],
    metadata: undefined,
    extensions: [],
  };
  const update = { taskId, contextId, artifact, append: true, lastChunk: false };
  bus.publish(AgentEvent.artifactUpdate({ ...update, metadata: undefined }));
}

function taskOf(id: string, contextId: string): Task {
  const status = {
    state: TaskState.TASK_STATE_SUBMITTED,
    message: undefined,
    timestamp: undefined,
  };
  return { id, contextId, status, artifacts: [], history: [], metadata: undefined };
}

function messageOf(
  words: string,
  { taskId, contextId }: Pick<StepContext, 'taskId' | 'contextId'>,
): Message {
  return {
    messageId: `said-${Math.random()}`,
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts: [textPart(words)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function textPart(value: string): Part {
  return part({ $case: 'text', value });
}

function part(content: NonNullable<Part['content']>): Part {
  return { content, metadata: undefined, filename: '', mediaType: '' };
}

function textOf({ content }: Part): string {
  return content?.$case === 'text' ? content.value : '';
}
