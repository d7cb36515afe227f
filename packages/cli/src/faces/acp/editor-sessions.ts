import {
  type AgentContext,
  type CancelNotification,
  type ClientCapabilities,
  type CloseSessionRequest,
  type InitializeRequest,
  type InitializeResponse,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type LoadSessionRequest,
  type NewSessionRequest,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type ResumeSessionRequest,
} from '@agentclientprotocol/sdk';
import { type Convoke, ConvokeError, type RunHandle, type Session } from '@convoke/sdk';
import { patiently } from '../patience.ts';
import { historyOf } from './history.ts';
import { findSession, runPrompt } from './prompt.ts';

/** A label takes no more, and the end of a path says more than its beginning. */
const labelMax = 512;
const sessionsMax = 50;

export interface Serving {
  readonly convoke: Convoke;
  readonly agentName: string;
  readonly version: string;
  /** Where a person sees a run in the console. */
  readonly linkTo: (runId: string) => Promise<string>;
}

interface Asking {
  readonly client: AgentContext;
  /** Aborted when the editor withdraws the request, and when it is gone. */
  readonly signal: AbortSignal;
}

/** A turn that the editor waits for. */
interface OpenTurn {
  runs: readonly RunHandle[];
  isCancelled: boolean;
  readonly closing: AbortController;
}

/**
 * Answers what an editor asks of its sessions. Their content is on the server: only what the editor can do, and the
 * turns that it waits for, are kept here.
 */
export class EditorSessions {
  readonly #serving: Serving;
  readonly #turns = new Map<string, OpenTurn>();
  #capabilities: ClientCapabilities = {};
  #gone = new AbortController().signal;

  constructor(serving: Serving) {
    this.#serving = serving;
  }

  /** `gone` is aborted when the connection ends. */
  closeWith(gone: AbortSignal): void {
    this.#gone = gone;
  }

  initialize({ clientCapabilities = {} }: InitializeRequest): InitializeResponse {
    this.#capabilities = clientCapabilities;
    const { agentName, version } = this.#serving;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      agentInfo: { name: 'convoke', title: agentName, version },
      authMethods: [],
    };
  }

  create({ cwd }: NewSessionRequest): Promise<NewSessionResponse> {
    const { convoke, agentName } = this.#serving;
    return withRequestErrors(async () => {
      const { id } = await convoke.sessions.create(agentName, { labels: { cwd: labelOf(cwd) } });
      return { sessionId: id };
    });
  }

  list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { convoke, agentName } = this.#serving;
    return withRequestErrors(async () => {
      const query = { agent_name: agentName, limit: sessionsMax };
      const { items, nextCursor } = await convoke.sessions
        .list({ ...query, ...(cursor && { cursor }) })
        .page();
      const sessions = items
        .map(({ record }) => record)
        .filter(({ labels }) => !cwd || labels['cwd'] === labelOf(cwd))
        .map(({ id, labels, title, updated_at: updatedAt }) => ({
          sessionId: id,
          cwd: cwd ?? labels['cwd'] ?? '/',
          updatedAt,
          ...(title !== undefined && { title }),
        }));
      return { sessions, ...(nextCursor !== undefined && { nextCursor }) };
    });
  }

  load({ sessionId }: LoadSessionRequest, client: AgentContext): Promise<object> {
    return withRequestErrors(async () => {
      const session = await this.#open(sessionId);
      for await (const update of historyOf(session)) {
        await client.notify('session/update', { sessionId, update });
      }
      return {};
    });
  }

  resume({ sessionId }: ResumeSessionRequest): Promise<object> {
    return withRequestErrors(async () => {
      await this.#open(sessionId);
      return {};
    });
  }

  /** Leaves the session as it is: its runs continue (D-214). */
  close({ sessionId }: CloseSessionRequest): object {
    this.#turns.get(sessionId)?.closing.abort();
    return {};
  }

  prompt({ sessionId, prompt }: PromptRequest, asking: Asking): Promise<PromptResponse> {
    if (this.#turns.has(sessionId)) {
      throw RequestError.invalidRequest({ sessionId }, 'the session has a turn already');
    }
    const closing = new AbortController();
    const turn: OpenTurn = { runs: [], isCancelled: false, closing };
    this.#turns.set(sessionId, turn);
    const cancel = () => this.#cancelTurn(turn);
    asking.signal.addEventListener('abort', cancel);
    return withRequestErrors(async () => {
      const session = await this.#find(sessionId);
      return runPrompt({
        ...this.#serving,
        session,
        prompt,
        client: asking.client,
        capabilities: this.#capabilities,
        signal: AbortSignal.any([this.#gone, closing.signal]),
        isCancelled: () => turn.isCancelled,
        showing: (runs) => {
          turn.runs = runs;
          if (turn.isCancelled) cancel();
        },
      });
    })
      .catch((error: unknown): PromptResponse => {
        if (closing.signal.aborted) return { stopReason: 'cancelled' };
        throw error;
      })
      .finally(() => {
        asking.signal.removeEventListener('abort', cancel);
        this.#turns.delete(sessionId);
      });
  }

  cancel({ sessionId }: CancelNotification): void {
    const turn = this.#turns.get(sessionId);
    if (turn !== undefined) this.#cancelTurn(turn);
  }

  /** The turn ends when its run has. An editor that is gone cancels nothing. */
  #cancelTurn(turn: OpenTurn): void {
    if (this.#gone.aborted) return;
    turn.isCancelled = true;
    for (const run of turn.runs) {
      patiently(() => run.cancel(), this.#gone).catch(() => turn.closing.abort());
    }
  }

  /** Finds a session to continue: a stopped one is resumed. */
  async #open(id: string): Promise<Session> {
    const session = await this.#find(id);
    if (session.record.status === 'stopped') await session.resume();
    return session;
  }

  #find(id: string): Promise<Session> {
    const { convoke, agentName } = this.#serving;
    return findSession(convoke, { agent: agentName, id });
  }
}

/** The editor is shown the server's refusal in words. */
async function withRequestErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConvokeError)) throw error;
    throw new RequestError(-32603, error.message, { code: error.code });
  }
}

function labelOf(cwd: string): string {
  return cwd.slice(-labelMax);
}
