import { type AgentCard, Role, type SendMessageRequest, type StreamResponse } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { type FetchParts, guardedFetch } from '../../egress/guarded-fetch.ts';
import { Unreachable } from '../../egress/unreachable.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Clock } from '../../ports/clock.ts';
import { type ClientCredentials, tokenUrlOf, withClientToken } from './client-token.ts';
import type { MessageTranslator } from './message-translator.ts';

const pauseMs = 1000;
const pauseMaxMs = 5000;
/** Consecutive failures after which the agent counts as unreachable. */
const failuresMax = 5;

export interface UserMessage {
  readonly id: string;
  readonly text: string;
  /** Members of the input beside the prompt, for agents that read data. */
  readonly data?: JsonObject;
  readonly context: string;
  readonly task: string;
}

export interface RemoteParts extends FetchParts {
  readonly credentials: ClientCredentials | undefined;
  /** Called with each token that the remote side issues. */
  readonly onToken: (token: string) => void;
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

  static async open(parts: RemoteParts): Promise<Remote> {
    const send = guardedFetch(parts);
    // Most existing agents implement version 0.3, the last before the first stable one.
    const legacyCompat = { enabled: true };
    const resolver = new DefaultAgentCardResolver({ fetchImpl: send, legacyCompat });
    const card = await resolver.resolve(...cardLocation(parts.registered));
    const options = { fetchImpl: authorized(send, card, parts), legacyCompat };
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
      cardResolver: resolver,
    });
    return new Remote(await factory.createFromAgentCard(card), card, parts.clock);
  }

  /**
   * Sends a message and yields responses until the task stops working. The caller passes each response to `translator`,
   * whose progress is read here. A broken connection does not end the task: it is polled or resubscribed.
   */
  async *send(
    message: UserMessage,
    translator: MessageTranslator,
    signal: AbortSignal,
  ): AsyncGenerator<StreamResponse, void> {
    const request = requestOf(message, this.#isStreamed);
    try {
      yield* this.#client.sendMessageStream(request, { signal });
    } catch (error) {
      // The agent may have received the message: sending it again could execute it twice.
      if (translator.task === undefined || signal.aborted) throw error;
    }
    yield* this.attach(translator, signal);
  }

  /** Yields responses of the translator's task until it stops working, from its current state on. */
  async *attach(
    translator: MessageTranslator,
    signal: AbortSignal,
  ): AsyncGenerator<StreamResponse, void> {
    const isStreamed = this.#isStreamed;
    for (let failures = 0, rounds = 1; isWorking(translator); rounds += 1) {
      try {
        for await (const response of this.#follow(translator.task ?? '', {
          isStreamed,
          translator,
          signal,
        })) {
          failures = 0;
          yield response;
        }
      } catch (error) {
        failures += 1;
        if (signal.aborted || failures > failuresMax) throw error;
      }
      if (isWorking(translator)) await this.#pause(Math.min(rounds * pauseMs, pauseMaxMs), signal);
    }
  }

  get #isStreamed(): boolean {
    return this.#card.capabilities?.streaming === true;
  }

  async cancel(task: string, signal: AbortSignal): Promise<void> {
    await this.#client.cancelTask({ tenant: '', id: task, metadata: undefined }, { signal });
  }

  /** Yields the current state of the task, then its updates. */
  async *#follow(
    id: string,
    {
      isStreamed,
      translator,
      signal,
    }: { isStreamed: boolean; translator: MessageTranslator; signal: AbortSignal },
  ): AsyncGenerator<StreamResponse, void> {
    const task = await this.#client.getTask({ tenant: '', id }, { signal });
    yield { payload: { $case: 'task', value: task } };
    if (!isStreamed || !isWorking(translator)) return;
    yield* this.#client.resubscribeTask({ tenant: '', id }, { signal });
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancelTimer = this.#clock.after(ms, resolve);
      signal.addEventListener(
        'abort',
        () => {
          cancelTimer();
          resolve();
        },
        { once: true },
      );
    });
    signal.throwIfAborted();
  }
}

function authorized(send: typeof fetch, card: AgentCard, parts: RemoteParts): typeof fetch {
  const { credentials, clock, onToken } = parts;
  if (credentials === undefined) return send;
  const tokenUrl = tokenUrlOf(card);
  if (tokenUrl === undefined) {
    throw new Unreachable('its card does not say where client credentials get a token');
  }
  return withClientToken(send, { credentials, tokenUrl, clock, onToken });
}

function isWorking({ progress, task }: MessageTranslator): boolean {
  return progress.kind === 'working' && task !== undefined;
}

/** Base URL and path of the agent card: the registered URL is the card itself or its base. */
function cardLocation(registered: URL): [string, string?] {
  const { origin, pathname, search } = registered;
  if (pathname.endsWith('.json')) return [origin, `${pathname}${search}`];
  return [`${origin}${pathname.replace(/\/*$/, '/')}`];
}

const noPart = { metadata: undefined, filename: '' };
const json = 'application/json';

function dataContent(value: JsonObject) {
  return { $case: 'data', value } as const;
}

function requestOf(
  { id, text, data, context, task }: UserMessage,
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
        { ...noPart, content: { $case: 'text', value: text }, mediaType: 'text/plain' },
        ...(data === undefined ? [] : [{ ...noPart, content: dataContent(data), mediaType: json }]),
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      // Without a stream the task is polled instead of waiting on an open connection.
      returnImmediately: !isStreamed,
    },
  };
}
