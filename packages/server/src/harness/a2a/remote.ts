import { type AgentCard, Role, type SendMessageRequest, type StreamResponse } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import type { Clock } from '../../ports/clock.ts';
import { type FetchParts, guardedFetch } from '../../egress/guarded-fetch.ts';
import type { MessageTranslator } from './message-translator.ts';

const pauseMs = 1000;
const pauseMaxMs = 5000;
/** Failures in a row, with nothing heard in between, after which the agent counts as lost. */
const failuresMax = 5;

export interface UserMessage {
  readonly id: string;
  readonly text: string;
  readonly context: string;
  readonly task: string;
}

/** A remote agent, as its card describes it. */
export class Remote {
  readonly #client: Client;
  readonly #card: AgentCard;
  readonly #clock: Clock;

  constructor(client: Client, card: AgentCard, clock: Clock) {
    this.#client = client;
    this.#card = card;
    this.#clock = clock;
  }

  static async open(parts: FetchParts): Promise<Remote> {
    // Most agents that are out there speak the version before the first stable one.
    const options = { fetchImpl: guardedFetch(parts), legacyCompat: { enabled: true } };
    const resolver = new DefaultAgentCardResolver(options);
    const card = await resolver.resolve(...cardPlace(parts.registered));
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
      cardResolver: resolver,
    });
    return new Remote(await factory.createFromAgentCard(card), card, parts.clock);
  }

  /**
   * Says something and listens until the agent stands still. Whoever takes what comes gives it to `telling`, which
   * is how this knows where the agent stands: a connection that breaks does not end the task.
   */
  async *say(
    message: UserMessage,
    telling: MessageTranslator,
    signal: AbortSignal,
  ): AsyncGenerator<StreamResponse, void> {
    const isStreamed = this.#card.capabilities?.streaming === true;
    const request = requestOf(message, isStreamed);
    try {
      yield* this.#client.sendMessageStream(request, { signal });
    } catch (error) {
      // Nobody knows whether the agent heard it: saying it again could have it done twice.
      if (telling.task === undefined || signal.aborted) throw error;
    }
    for (let failures = 0, rounds = 1; isUnsettled(telling); rounds += 1) {
      try {
        for await (const news of this.#look(telling.task ?? '', { isStreamed, telling, signal })) {
          failures = 0;
          yield news;
        }
      } catch (error) {
        failures += 1;
        if (signal.aborted || failures > failuresMax) throw error;
      }
      if (isUnsettled(telling)) await this.#pause(Math.min(rounds * pauseMs, pauseMaxMs), signal);
    }
  }

  async cancel(task: string, signal: AbortSignal): Promise<void> {
    await this.#client.cancelTask({ tenant: '', id: task, metadata: undefined }, { signal });
  }

  /** The task as it stands, and what comes after that. */
  async *#look(
    id: string,
    {
      isStreamed,
      telling,
      signal,
    }: { isStreamed: boolean; telling: MessageTranslator; signal: AbortSignal },
  ): AsyncGenerator<StreamResponse, void> {
    const task = await this.#client.getTask({ tenant: '', id }, { signal });
    yield { payload: { $case: 'task', value: task } };
    if (!isStreamed || !isUnsettled(telling)) return;
    yield* this.#client.resubscribeTask({ tenant: '', id }, { signal });
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const forget = this.#clock.after(ms, resolve);
      signal.addEventListener(
        'abort',
        () => {
          forget();
          resolve();
        },
        { once: true },
      );
    });
    signal.throwIfAborted();
  }
}

function isUnsettled({ standing, task }: MessageTranslator): boolean {
  return standing.kind === 'working' && task !== undefined;
}

/** The card's own address, or the address below which it lies. */
function cardPlace(registered: URL): [string, string?] {
  const { origin, pathname, search } = registered;
  if (pathname.endsWith('.json')) return [origin, `${pathname}${search}`];
  return [`${origin}${pathname.replace(/\/*$/, '/')}`];
}

function requestOf(
  { id, text, context, task }: UserMessage,
  isStreamed: boolean,
): SendMessageRequest {
  return {
    tenant: '',
    metadata: undefined,
    message: {
      messageId: id,
      contextId: context,
      taskId: task,
      role: Role.ROLE_USER,
      parts: [
        {
          content: { $case: 'text', value: text },
          metadata: undefined,
          filename: '',
          mediaType: 'text/plain',
        },
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      // Without a stream the answer is looked for, not waited for on an open connection.
      returnImmediately: !isStreamed,
    },
  };
}
