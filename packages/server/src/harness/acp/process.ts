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
import type { EventQueue } from '../event-queue.ts';
import { LegFailure } from '../leg-failure.ts';
import type { Redact } from '../../agents/secret-references.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SandboxedProcess } from '../../ports/sandbox.ts';
import { within } from '../../runtime/within.ts';
import { endedEarly, refusedBy } from './failure.ts';
import {
  type SessionAnswer,
  authMethodFor,
  mcpServersFor,
  modeChange,
  modelIn,
} from './session.ts';
import type { AcpSettings } from './settings.ts';
import { wireOf } from './message-stream.ts';

/** Command-line agents take a minute to come up on a busy machine. */
const startMs = 120_000;
const isLate = Symbol('late');
/** `session/load` tells the history again, and some agents go on with it after they have answered. */
const quietMs = 250;
const quietMaxMs = 10_000;
/** For what the agent has just ended to be gone. */
const endingMs = 1000;
const endingLookMs = 50;

/** The leg that speaks to the agent at the moment. */
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
  /** Takes secrets out of what the agent says. */
  readonly redact: Redact;
}

/** One agent's process and the one session that it serves. */
export class AgentProcess {
  readonly #parts: ProcessParts;
  readonly #connection: ClientConnection;
  #listener: Listener | undefined;
  #initialized: InitializeResponse | undefined;
  #session = '';
  #model: string | undefined;
  #updates = 0;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
    this.#connection = client({ name: 'convoke' })
      // First, so that an update is never handled after an answer that came behind it.
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
      .connect(wireOf(parts.child, () => this.#listener?.queue));
  }

  get session(): string {
    return this.#session;
  }

  /** What the agent says its model is. */
  get model(): string | undefined {
    return this.#model;
  }

  get redact(): Redact {
    return this.#parts.redact;
  }

  get exited(): Promise<unknown> {
    return this.#parts.child.exited;
  }

  /** True when the agent remembers the session it is asked for; false when it begins a new one. */
  async open(known: string | undefined): Promise<boolean> {
    const { settings } = this.#parts;
    this.#initialized = await this.#within('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'convoke', version: '1' },
      // No file system and no terminal of ours: the agent works inside its sandbox.
      clientCapabilities: settings.asksUser ? { elicitation: { form: {} } } : {},
    });
    const methodId = authMethodFor(this.#initialized, settings);
    if (methodId !== undefined) await this.#within('authenticate', { methodId });
    const reopened = known === undefined ? undefined : await this.#reopen(known);
    const answer = reopened ?? (await this.#begin());
    this.#model = modelIn(answer);
    await this.#setMode(answer);
    return reopened !== undefined;
  }

  listen(listener: Listener | undefined): void {
    this.#listener = listener;
  }

  /** Says what stopped the turn. It takes as long as the agent works. */
  async prompt(texts: readonly string[]): Promise<PromptResponse> {
    const prompt = texts.map((text) => ({ type: 'text' as const, text }));
    const answer = await this.#ask('session/prompt', { sessionId: this.#session, prompt });
    // Whatever was read before the answer is handled by then.
    await new Promise((resolve) => setImmediate(resolve));
    return answer;
  }

  async cancel(): Promise<void> {
    // An agent that is gone has nothing left to cancel.
    await this.#connection.agent
      .notify('session/cancel', { sessionId: this.#session })
      .catch(() => undefined);
  }

  /**
   * Remembers what runs now. What it gives tells how much of what was started since still runs, when the agent has
   * had a moment to end it.
   */
  async mark(): Promise<() => Promise<number>> {
    const count = await this.#parts.child.mark();
    return async () => {
      for (let waitedMs = 0; ; waitedMs += endingLookMs) {
        const left = await count();
        if (left === 0 || waitedMs >= endingMs) return left;
        await this.#pause(endingLookMs);
      }
    };
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

  async #begin(): Promise<SessionAnswer> {
    const answer = await this.#within('session/new', this.#place());
    this.#session = answer.sessionId;
    return answer;
  }

  /** Prefers `resume`, which does not tell the whole history again. `undefined` when the agent has lost it. */
  async #reopen(sessionId: string): Promise<SessionAnswer | undefined> {
    const { sessionCapabilities, loadSession } = this.#initialized?.agentCapabilities ?? {};
    const place = { ...this.#place(), sessionId };
    try {
      if (sessionCapabilities?.resume) {
        const answer = await this.#within('session/resume', place);
        this.#session = sessionId;
        return answer;
      }
      if (loadSession !== true) return undefined;
      const answer = await this.#within('session/load', place);
      this.#session = sessionId;
      await this.#quiet();
      return answer;
    } catch (error) {
      if (error instanceof LegFailure && error.isRefusal) return undefined;
      throw error;
    }
  }

  async #quiet(): Promise<void> {
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
      await this.#within(change.method, { ...change.params, sessionId });
    } else await this.#within(change.method, { ...change.params, sessionId });
  }

  #place() {
    const { settings, child } = this.#parts;
    const initialized = this.#initialized ?? { protocolVersion: PROTOCOL_VERSION };
    return {
      cwd: child.places.sessionFolder,
      mcpServers: mcpServersFor(settings.mcpServers, initialized),
      ...(settings.meta !== undefined && { _meta: { ...settings.meta } }),
    };
  }

  /** A request that belongs to the start, which must not take forever. */
  async #within<Method extends AgentRequestMethod>(
    method: Method,
    params: AgentRequestParamsByMethod[Method],
  ): Promise<AgentRequestResponsesByMethod[Method]> {
    const deadline = { clock: this.#parts.clock, ms: startMs, late: isLate } as const;
    const answer = await within(deadline, this.#ask(method, params));
    if (answer !== isLate) return answer;
    throw new LegFailure(
      'agent_error',
      `The agent did not answer ${method} within ${startMs / 1000} s.`,
    );
  }

  async #ask<Method extends AgentRequestMethod>(
    method: Method,
    params: AgentRequestParamsByMethod[Method],
  ): Promise<AgentRequestResponsesByMethod[Method]> {
    const { child, redact } = this.#parts;
    try {
      return await this.#connection.agent.request(method, params);
    } catch (error) {
      if (error instanceof RequestError) throw refusedBy(error, method).redacted(redact);
      // The connection is closed: the process is gone, or closed its output and is of no use any more.
      await child.kill();
      throw endedEarly(await child.exited, child.errorOutput()).redacted(redact);
    }
  }
}
