import {
  AbstractChat,
  type ChatState,
  type ChatTransport,
  DefaultChatTransport,
  type UIMessage,
  lastAssistantMessageIsCompleteWithApprovalResponses as isApproved,
  lastAssistantMessageIsCompleteWithToolCalls as isAnswered,
} from 'ai';
import type { TestServer } from '../../support/server.ts';

/** The library's chat with its state in memory, as its packages for React and others keep it in theirs. */
export class MemoryChat extends AbstractChat<UIMessage> {
  constructor(id: string, transport: ChatTransport<UIMessage>) {
    super({
      id,
      transport,
      state: new MemoryState(),
      sendAutomaticallyWhen: (chat) => isApproved(chat) || isAnswered(chat),
    });
  }

  /** The text of the newest message. */
  get text(): string {
    const parts = this.lastMessage?.parts ?? [];
    return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  }

  /** The tool calls of the newest message. */
  get calls() {
    const parts = this.lastMessage?.parts ?? [];
    return parts.flatMap((part) => (part.type === 'dynamic-tool' ? [part] : []));
  }
}

/** A chat with the library's own transport. */
export class TestChat extends MemoryChat {
  /** Messages that it has sent. */
  posts = 0;

  constructor(server: TestServer, sessionId: string, query = '') {
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${server.baseUrl}/v1/sessions/${sessionId}/ai-sdk${query}`,
      headers: { ...server.client },
      fetch: (url, init) => {
        if (init?.method === 'POST') this.posts += 1;
        return fetch(url, init);
      },
    });
    super(sessionId, transport);
  }
}

class MemoryState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready';
  error: Error | undefined;
  messages: UIMessage[] = [];

  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, structuredClone(message)];
  };

  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.with(index, structuredClone(message));
  };

  snapshot = <T>(thing: T): T => structuredClone(thing);
}
