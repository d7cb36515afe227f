import type { ResolvedEquipment } from '../resolve-equipment.ts';
import {
  type AgentRequestMethod,
  type AgentRequestParamsByMethod,
  type AgentRequestResponsesByMethod,
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type InitializeResponse,
  PROTOCOL_VERSION,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  client,
} from '@agentclientprotocol/sdk';
import type { Redact } from '../../agents/secret-references.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SandboxedProcess } from '../../ports/sandbox.ts';
import { within } from '../../runtime/within.ts';
import type { EventQueue } from '../event-queue.ts';
import { LegFailure } from '../leg-failure.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { exitFailure, requestFailure } from './failure.ts';
import { messageStream } from './message-stream.ts';
import {
  type SessionAnswer,
  authMethodFor,
  mcpServersFor,
  modeChange,
  modelIn,
} from './session.ts';
import type { AcpSettings } from './settings.ts';

/** Command-line agents may need a minute to start on a busy machine. */
const startTimeoutMs = 120_000;
const isLate = Symbol('late');
/** `session/load` replays the history, and some agents continue the replay after their response. */
const quietMs = 250;
const quietMaxMs = 10_000;
/** How long processes may take to exit after the agent ended them. */
const endingMs = 1000;
const endingPollMs = 50;
/** How long an agent may take to exit once its input has ended. */
const leavingMs = 2000;

/** Receives the messages of the agent: the current leg. */
export interface Listener {
  readonly queue: EventQueue;
  update(update: SessionUpdate): void;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  elicitation(request: CreateElicitationRequest): Promise<CreateElicitationResponse>;
}

export interface ProcessParts {
  readonly child: SandboxedProcess;
  readonly settings: AcpSettings;
  readonly clock: Clock;
  /** Removes secrets from text of the agent. */
  readonly redact: Redact;
}

/** The process of one agent and the one ACP session that it serves. */
export class AgentProcess {
  readonly #parts: ProcessParts;
  readonly #connection: ClientConnection;
  /** The last run that used it. */
  run = '';
  /** Environment and servers it was started with: a process is not reused with other secrets. */
  equipment: Pick<ResolvedEquipment, 'env' | 'mcpServers'> | undefined;
  #listener: Listener | undefined;
  #initialized: InitializeResponse | undefined;
  #session = '';
  #model: string | undefined;
  #updates = 0;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
    this.#connection = client({ name: 'convoke' })
      // Registered first, so that an update is never handled after a response that was sent later.
      .onNotification('session/update', ({ params }) => this.#onUpdate(params.update))
      .onRequest(
        'session/request_permission',
        async ({ params }) =>
          (await this.#listener?.permission(params)) ?? { outcome: { outcome: 'cancelled' } },
      )
      .onRequest(
        'elicitation/create',
        async ({ params }) => (await this.#listener?.elicitation(params)) ?? { action: 'cancel' },
      )
      .connect(messageStream(parts, () => this.#listener?.queue));
  }

  get session(): string {
    return this.#session;
  }

  /** The model as reported by the agent. */
  get model(): string | undefined {
    return this.#model;
  }

  get redact(): Redact {
    return this.#parts.redact;
  }

  get exited(): Promise<unknown> {
    return this.#parts.child.exited;
  }

  /** Whether another process of the agent can open the session. */
  get canReopen(): boolean {
    const { sessionCapabilities, loadSession } = this.#initialized?.agentCapabilities ?? {};
    return Boolean(sessionCapabilities?.resume) || loadSession === true;
  }

  /** Opens a session. Returns whether the agent still has the `known` one; else it is a new session. */
  async open(known: string | undefined): Promise<boolean> {
    const { settings } = this.#parts;
    this.#initialized = await this.#requestInTime('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'convoke', version: '1' },
      // Offers no file system and no terminal: the agent works inside its sandbox.
      clientCapabilities: settings.asksUser ? { elicitation: { form: {} } } : {},
    });
    const methodId = authMethodFor(this.#initialized, settings);
    if (methodId !== undefined) await this.#requestInTime('authenticate', { methodId });
    const reopened = known === undefined ? undefined : await this.#reopen(known);
    const answer = reopened ?? (await this.#newSession());
    this.#model = modelIn(answer);
    await this.#setMode(answer);
    return reopened !== undefined;
  }

  listen(listener: Listener | undefined): void {
    this.#listener = listener;
  }

  /** Resolves when the agent ends the turn. */
  async prompt(texts: readonly string[]): Promise<PromptResponse> {
    const prompt = texts.map((text) => ({ type: 'text' as const, text }));
    const answer = await this.#request('session/prompt', { sessionId: this.#session, prompt });
    // Lets the handlers of updates that were read before the response finish.
    await nextTurn();
    return answer;
  }

  async cancel(): Promise<void> {
    // Fails if the agent has exited: then there is nothing to cancel.
    await this.#connection.agent
      .notify('session/cancel', { sessionId: this.#session })
      .catch(() => undefined);
  }

  /**
   * Records the processes that run now. The returned function counts those that were started since and still run,
   * after giving the agent a moment to end them.
   */
  async mark(): Promise<() => Promise<number>> {
    const count = await this.#parts.child.mark();
    return async () => {
      for (let waitedMs = 0; ; waitedMs += endingPollMs) {
        const remaining = await count();
        if (remaining === 0 || waitedMs >= endingMs) return remaining;
        await this.#pause(endingPollMs);
      }
    };
  }

  /** Lets the agent store its session and exit; kills it if it does not. */
  async leave(): Promise<void> {
    const { child, clock } = this.#parts;
    child.stdin.end();
    await within({ clock, ms: leavingMs, late: undefined }, child.exited);
    await this.kill();
  }

  async kill(): Promise<void> {
    await this.#parts.child.kill();
    this.#connection.close();
  }

  #onUpdate(update: SessionUpdate): void {
    this.#updates += 1;
    if (update.sessionUpdate === 'config_option_update') {
      this.#model = modelIn(update) ?? this.#model;
    }
    this.#listener?.update(update);
  }

  async #newSession(): Promise<SessionAnswer> {
    const answer = await this.#requestInTime('session/new', this.#sessionParams());
    this.#session = answer.sessionId;
    return answer;
  }

  /** Prefers `resume`, which does not replay the history. `undefined` when the agent has lost the session. */
  async #reopen(sessionId: string): Promise<SessionAnswer | undefined> {
    const { sessionCapabilities, loadSession } = this.#initialized?.agentCapabilities ?? {};
    const params = { ...this.#sessionParams(), sessionId };
    try {
      if (sessionCapabilities?.resume) {
        const answer = await this.#requestInTime('session/resume', params);
        this.#session = sessionId;
        return answer;
      }
      if (loadSession !== true) return undefined;
      const answer = await this.#requestInTime('session/load', params);
      this.#session = sessionId;
      await this.#waitUntilQuiet();
      return answer;
    } catch (error) {
      if (error instanceof LegFailure && error.isRefusal) return undefined;
      throw error;
    }
  }

  async #waitUntilQuiet(): Promise<void> {
    for (let waitedMs = 0; waitedMs < quietMaxMs; waitedMs += quietMs) {
      const before = this.#updates;
      await this.#pause(quietMs);
      if (this.#updates === before) return;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#parts.clock.after(ms, () => resolve()));
  }

  async #setMode(answer: SessionAnswer): Promise<void> {
    const { agentMode } = this.#parts.settings;
    if (agentMode === undefined) return;
    const change = modeChange(agentMode, answer);
    if (change === undefined) {
      const offered = answer.modes?.availableModes.map(({ id }) => id).join(', ');
      const hint = offered === undefined ? 'it has no modes' : `it has ${offered}`;
      throw new LegFailure(
        'agent_error',
        `The agent has no mode "${agentMode}" (acp.mode): ${hint}.`,
      );
    }
    const sessionId = this.#session;
    if (change.method === 'session/set_mode') {
      await this.#requestInTime(change.method, { ...change.params, sessionId });
    } else await this.#requestInTime(change.method, { ...change.params, sessionId });
  }

  #sessionParams() {
    const { settings, child } = this.#parts;
    const initialized = this.#initialized ?? { protocolVersion: PROTOCOL_VERSION };
    return {
      cwd: child.places.sessionFolder,
      mcpServers: mcpServersFor(settings.mcpServers, initialized),
      ...(settings.meta !== undefined && { _meta: { ...settings.meta } }),
    };
  }

  /** A request during startup, with a deadline. */
  async #requestInTime<Method extends AgentRequestMethod>(
    method: Method,
    params: AgentRequestParamsByMethod[Method],
  ): Promise<AgentRequestResponsesByMethod[Method]> {
    const deadline = { clock: this.#parts.clock, ms: startTimeoutMs, late: isLate } as const;
    const answer = await within(deadline, this.#request(method, params));
    if (answer !== isLate) return answer;
    throw new LegFailure(
      'agent_error',
      `The agent did not answer ${method} within ${startTimeoutMs / 1000} s.`,
    );
  }

  async #request<Method extends AgentRequestMethod>(
    method: Method,
    params: AgentRequestParamsByMethod[Method],
  ): Promise<AgentRequestResponsesByMethod[Method]> {
    const { child, redact } = this.#parts;
    try {
      return await this.#connection.agent.request(method, params);
    } catch (error) {
      if (error instanceof RequestError) throw requestFailure(error, method).redacted(redact);
      // The connection is closed: the process has exited, or closed its output and is unusable.
      await child.kill();
      if (error instanceof LegFailure) throw error;
      throw exitFailure(await child.exited, child.errorOutput()).redacted(redact);
    }
  }
}
