import * as seven from 'ai';
import type { ChatState, ChatTransport, UIMessage } from 'ai';
import type { TestServer } from '../../support/server.ts';

/** What a version of the library has for chats. */
export type ChatLibrary = Pick<
  typeof seven,
  | 'AbstractChat'
  | 'lastAssistantMessageIsCompleteWithApprovalResponses'
  | 'lastAssistantMessageIsCompleteWithToolCalls'
>;

/** Told of calls that the page has to answer. */
type OnCall = (call: { readonly toolCallId: string }) => void;

/**
 * The chat of a version of the library with its state in memory, as its packages for React and others keep it in
 * theirs.
 */
export function chatOf(library: ChatLibrary) {
  const {
    lastAssistantMessageIsCompleteWithApprovalResponses: isApproved,
    lastAssistantMessageIsCompleteWithToolCalls: isAnswered,
  } = library;
  return class MemoryChat extends library.AbstractChat<UIMessage> {
    constructor(id: string, transport: ChatTransport<UIMessage>, onCall?: OnCall) {
      super({
        id,
        transport,
        ...(onCall && { onToolCall: ({ toolCall }) => onCall(toolCall) }),
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
  };
}

/** The chat of version 7. */
export class MemoryChat extends chatOf(seven) {}

/** A chat with the library's own transport. */
export class TestChat extends MemoryChat {
  /** Messages that it has sent. */
  posts = 0;

  constructor(server: TestServer, sessionId: string, query = '') {
    const transport = new seven.DefaultChatTransport<UIMessage>({
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
