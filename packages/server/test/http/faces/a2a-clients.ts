import { randomUUID } from 'node:crypto';
import * as one from '@a2a-js/sdk/client';
import { SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import * as old from 'a2a-v03/client';
import type * as legacy from 'a2a-v03';

export const a2aVersions = ['1.0', '0.3'] as const;
export type A2aVersion = (typeof a2aVersions)[number];

/** A task as both versions show it. */
export interface SeenTask {
  readonly id: string;
  readonly context: string;
  /** As version 0.3 names it. */
  readonly state: string;
  /** The text of the artifact. */
  readonly text: string;
  /** The message of the status: its text, and its data parts. */
  readonly said: string;
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

export interface MessageParts {
  readonly id?: string;
  readonly context?: string;
  readonly task?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly isBlocking?: boolean;
}

interface ClientAddress {
  readonly version: A2aVersion;
  readonly agentUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A client of the protocol's maintainers, unmodified, of one version. */
export interface A2aClient {
  send(text: string, parts?: MessageParts): Promise<SeenTask>;
  /** The task after each response of the stream. */
  stream(text: string, parts?: MessageParts): AsyncGenerator<SeenTask, void>;
  subscribe(id: string): AsyncGenerator<SeenTask, void>;
  get(id: string): Promise<SeenTask>;
  cancel(id: string): Promise<SeenTask>;
  /** Ids of the messages in the history. */
  messageIds(id: string): Promise<readonly string[]>;
}

export async function openA2aClient(
  version: A2aVersion,
  agentUrl: string,
  headers: Readonly<Record<string, string>>,
): Promise<A2aClient> {
  return openA2aClientOver(fetch, { version, agentUrl, headers });
}

/** The same, with what sends its requests. */
export async function openA2aClientOver(
  send: typeof fetch,
  { version, agentUrl, headers }: ClientAddress,
): Promise<A2aClient> {
  if (version === '1.0') return newClient(await openSdkClient(agentUrl, headers, send));
  const factory = new old.ClientFactory({
    transports: [new old.JsonRpcTransportFactory({ fetchImpl: fetchWith(headers, send) })],
  });
  return oldClient(await factory.createFromUrl(cardOf(agentUrl), ''));
}

/** The client of version 1.0 itself, for what 0.3 does not have. */
export function openSdkClient(
  agentUrl: string,
  headers: Readonly<Record<string, string>>,
  send: typeof fetch = fetch,
): Promise<one.Client> {
  const factory = new one.ClientFactory({
    transports: [new one.JsonRpcTransportFactory({ fetchImpl: fetchWith(headers, send) })],
  });
  return factory.createFromUrl(cardOf(agentUrl), '');
}

const cardOf = (agentUrl: string) => `${agentUrl}/.well-known/agent-card.json`;

const fetchWith =
  (headers: Readonly<Record<string, string>>, send: typeof fetch): typeof fetch =>
  (url, init) =>
    send(url, { ...init, headers: { ...headersOf(init), ...headers } });

const headersOf = (init: RequestInit | undefined) =>
  Object.fromEntries(new Headers(init?.headers).entries());

function newClient(client: one.Client): A2aClient {
  const request = (text: string, { id, context, task, data, isBlocking }: MessageParts = {}) =>
    SendMessageRequest.fromJSON({
      message: {
        messageId: id ?? randomUUID(),
        contextId: context ?? '',
        taskId: task ?? '',
        role: 'ROLE_USER',
        parts: data === undefined ? [{ text }] : [{ data }],
      },
      configuration: { returnImmediately: isBlocking === false },
    });
  return {
    async send(text, parts) {
      const result = await client.sendMessage(request(text, parts));
      if (!('artifacts' in result)) throw new Error('the answer is not a task');
      return seenTask(Task.toJSON(result));
    },
    stream: (text, parts) => seenUpdates(jsonOf(client.sendMessageStream(request(text, parts)))),
    subscribe: (id) => seenUpdates(jsonOf(client.resubscribeTask({ tenant: '', id }))),
    get: async (id) =>
      seenTask(Task.toJSON(await client.getTask({ tenant: '', id, historyLength: undefined }))),
    cancel: async (id) =>
      seenTask(Task.toJSON(await client.cancelTask({ tenant: '', id, metadata: undefined }))),
    messageIds: async (id) =>
      idsIn((await client.getTask({ tenant: '', id, historyLength: 10 })).history),
  };
}

async function* jsonOf(responses: AsyncIterable<StreamResponse>) {
  for await (const response of responses) yield StreamResponse.toJSON(response);
}

function oldClient(client: old.Client): A2aClient {
  const params = (text: string, parts: MessageParts = {}): legacy.MessageSendParams => ({
    message: {
      kind: 'message',
      messageId: parts.id ?? randomUUID(),
      role: 'user',
      parts:
        parts.data === undefined ? [{ kind: 'text', text }] : [{ kind: 'data', data: parts.data }],
      ...(parts.context !== undefined && { contextId: parts.context }),
      ...(parts.task !== undefined && { taskId: parts.task }),
    },
    ...(parts.isBlocking === false && { configuration: { blocking: false } }),
  });
  return {
    send: async (text, parts) => seenTask(await client.sendMessage(params(text, parts))),
    stream: (text, parts) => seenUpdates(client.sendMessageStream(params(text, parts))),
    subscribe: (id) => seenUpdates(client.resubscribeTask({ id })),
    get: async (id) => seenTask(await client.getTask({ id })),
    cancel: async (id) => seenTask(await client.cancelTask({ id })),
    messageIds: async (id) => idsIn((await client.getTask({ id, historyLength: 10 })).history),
  };
}

const idsIn = (history: readonly { readonly messageId: string }[] = []) =>
  history.map(({ messageId }) => messageId);

/** What both versions write alike, and the few words that differ. */
interface Written {
  readonly id?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly kind?: string;
  readonly append?: boolean;
  readonly status?: {
    readonly state?: string;
    readonly message?: { readonly parts?: readonly WrittenPart[] };
  };
  readonly artifact?: { readonly parts?: readonly WrittenPart[] };
  readonly artifacts?: readonly { readonly parts?: readonly WrittenPart[] }[];
}
interface WrittenPart {
  readonly text?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

const textIn = (parts: readonly WrittenPart[] = []) => parts.map(({ text = '' }) => text).join('');
const stateOf = (state = '') =>
  state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');

function seenTask(written: unknown): SeenTask {
  const { id = '', contextId: context = '', status, artifacts = [] } = written as Written;
  const parts = status?.message?.parts ?? [];
  return {
    id,
    context,
    state: stateOf(status?.state),
    text: artifacts.map((artifact) => textIn(artifact.parts)).join(''),
    said: textIn(parts),
    data: parts.flatMap(({ data }) => (data === undefined ? [] : [data])),
  };
}

async function* seenUpdates(responses: AsyncIterable<unknown>): AsyncGenerator<SeenTask, void> {
  let seen: SeenTask | undefined;
  for await (const response of responses) {
    seen = seenAfter(seen, response);
    yield seen;
  }
}

/** Applies a response to the task, as a client of the protocol does. */
function seenAfter(before: SeenTask | undefined, response: unknown): SeenTask {
  const { task, statusUpdate, artifactUpdate } = response as Record<string, Written | undefined>;
  const written = task ?? statusUpdate ?? artifactUpdate ?? (response as Written);
  if (written.artifact === undefined && written.taskId === undefined) return seenTask(written);
  if (before === undefined) throw new Error('the stream does not begin with the task');
  if (written.artifact === undefined) {
    const { id, context, text } = before;
    return { ...seenTask(written), id, context, text };
  }
  const text = textIn(written.artifact.parts);
  return { ...before, text: written.append === true ? before.text + text : text };
}
