import {
  type AgentSubscriber,
  HttpAgent,
  type Interrupt,
  type Message,
  type RunAgentInput,
  type RunErrorEvent,
  type RunFinishedEvent,
} from '@ag-ui/client';
import { randomUUID } from 'node:crypto';
import type { TestServer } from '../../support/server.ts';

export interface ThreadOptions {
  readonly threadId?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** The unmodified `HttpAgent` of AG-UI, with the subclass of the guide that connects, and a record of what it got. */
export class TestThread extends HttpAgent {
  /** The newest end of a response. */
  finished: RunFinishedEvent | undefined;
  failed: RunErrorEvent | undefined;
  /** Types of the events of the newest response. */
  types: string[] = [];
  custom: { readonly name: string; readonly value: unknown }[] = [];

  constructor(
    server: Pick<TestServer, 'baseUrl' | 'client'>,
    path: string,
    more: ThreadOptions = {},
  ) {
    const { headers = server.client, threadId = randomUUID(), fetch: send = fetch } = more;
    super({
      url: `${server.baseUrl}/v1/${path}/ag-ui`,
      headers: { ...headers },
      threadId,
      fetch: async (url, init) => cancelledQuietly(await send(url, init)),
    });
    this.subscribe(this.#recorder());
  }

  #recorder(): AgentSubscriber {
    return {
      onRunInitialized: () => {
        this.types = [];
        this.finished = undefined;
        this.failed = undefined;
      },
      onEvent: ({ event }) => {
        this.types.push(event.type);
      },
      onCustomEvent: ({ event }) => {
        this.custom.push({ name: event.name, value: event.value });
      },
      onRunFinishedEvent: ({ event }) => {
        this.finished = event;
      },
      onRunErrorEvent: ({ event }) => {
        this.failed = event;
      },
    };
  }

  override connectAgent(...given: Parameters<HttpAgent['connectAgent']>) {
    Object.assign(this, { messages: [], pendingInterrupts: [] });
    return super.connectAgent(...given);
  }

  protected override connect(input: RunAgentInput) {
    return this.run({ ...input, messages: [] });
  }

  async say(content: string, runId: string = randomUUID()): Promise<void> {
    this.addMessage({ id: randomUUID(), role: 'user', content });
    await this.runAgent({ runId });
  }

  /** Resolves every open interrupt with its payload; `cancelled` gives it up. */
  async answer(payloadOf: (interrupt: Interrupt) => object | 'cancelled'): Promise<void> {
    const resume = this.pendingInterrupts.map((interrupt) => {
      const payload = payloadOf(interrupt);
      const { id: interruptId } = interrupt;
      return payload === 'cancelled'
        ? { interruptId, status: 'cancelled' as const }
        : { interruptId, status: 'resolved' as const, payload };
    });
    await this.runAgent({ resume });
  }

  get outcome(): string | undefined {
    return this.finished?.outcome?.type;
  }

  get text(): string {
    return textIn(this.messages);
  }

  get calls() {
    return this.messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    );
  }

  get results() {
    return this.messages.flatMap((message) => (message.role === 'tool' ? [message] : []));
  }

  /** Of the run that the newest response showed. */
  get runId(): string {
    const { convoke } = (this.finished?.metadata ?? {}) as { convoke?: { run_id: string } };
    return convoke?.run_id ?? '';
  }
}

/** What the agent said after the user's newest message. */
function textIn(messages: readonly Message[]): string {
  const from = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(from + 1)
    .map(({ role, content }) =>
      role === 'assistant' && typeof content === 'string' ? content : '',
    )
    .join('');
}

/** The library cancels a body that is broken already, and leaves the rejection of that unhandled (1.0.0). */
function cancelledQuietly(response: Response): Response {
  const { body } = response;
  if (body === null) return response;
  const open = body.getReader.bind(body);
  const getReader = () => {
    const reader = open();
    const cancel = reader.cancel.bind(reader);
    return Object.assign(reader, { cancel: (why?: unknown) => cancel(why).catch(() => {}) });
  };
  Object.assign(body, { getReader });
  return response;
}
