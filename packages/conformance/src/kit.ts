import type { AgentRole } from './agents.ts';
import type { Caller, Credentials, Surroundings } from './caller.ts';
import type { Dialect } from './dialect.ts';
import { NotExercised } from './failure.ts';
import { fill } from './fields.ts';
import type { Frame } from './frames.ts';
import type { Owner } from './owner.ts';
import { hasStatus } from './server.ts';
import { type RunAt, Steps, runPath, sessionPath } from './steps.ts';

/** A run that has ended, with all that a reader got. */
export interface FinishedRun {
  readonly at: RunAt;
  readonly frames: readonly Frame[];
  readonly run: unknown;
}

export interface KitParts extends Surroundings {
  readonly app: Caller;
  readonly credentials: Credentials;
  readonly owner: Owner | undefined;
  readonly agentNames: Readonly<Record<AgentRole, string>>;
}

/** The tools of a check. Runs that checks only read are made once and shared. */
export class Kit implements KitParts {
  readonly server;
  readonly dialect: Dialect;
  readonly secrets;
  readonly app: Caller;
  readonly credentials: Credentials;
  readonly agentNames: Readonly<Record<AgentRole, string>>;
  readonly steps: Steps;
  readonly #owner: Owner | undefined;
  readonly #seen = new Map<AgentRole, Promise<FinishedRun>>();
  #otherTenant: Promise<Steps> | undefined;

  constructor(parts: KitParts) {
    this.server = parts.server;
    this.dialect = parts.dialect;
    this.secrets = parts.secrets;
    this.app = parts.app;
    this.credentials = parts.credentials;
    this.agentNames = parts.agentNames;
    this.#owner = parts.owner;
    this.steps = new Steps(parts.app, parts.dialect);
  }

  get hasOwner(): boolean {
    return this.#owner !== undefined;
  }

  get owner(): Owner {
    if (this.#owner === undefined) throw new NotExercised('needs --owner-token');
    return this.#owner;
  }

  openSession(role: AgentRole): Promise<string> {
    return this.steps.openSession(this.agentNames[role]);
  }

  begin(role: AgentRole, prompt?: string): Promise<RunAt> {
    return this.steps.begin(this.agentNames[role], prompt);
  }

  /** A run of the agent that has ended: answered, allowed, cancelled, whatever its agent needs for it. */
  seen(role: AgentRole): Promise<FinishedRun> {
    const known = this.#seen.get(role) ?? this.#finish(role);
    this.#seen.set(role, known);
    return known;
  }

  /** The runs of all agents that the service can execute; that of the echo is the least. */
  async allSeen(): Promise<readonly FinishedRun[]> {
    const others: readonly AgentRole[] = ['ask', 'approve', 'slow', 'fail'];
    const echo = await this.seen('echo');
    const ended = await Promise.allSettled(others.map((role) => this.seen(role)));
    // If one of them cannot be executed, the checks that read it fail.
    return [echo, ...ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))];
  }

  /** The same client in a tenant of its own, which the kit makes. */
  otherTenant(): Promise<Steps> {
    this.#otherTenant ??= this.#makeTenant();
    return this.#otherTenant;
  }

  /** Ends the sessions and removes the resources of the owner. If the service lacks them, a check has failed. */
  async cleanUp(): Promise<void> {
    const { terminate } = this.dialect.session;
    const stop = (id: string) => this.app.post(sessionPath(id, '/stop'), terminate);
    await Promise.allSettled(this.steps.opened.map(stop));
    await this.#owner?.cleanUp().catch(() => {});
  }

  async #makeTenant(): Promise<Steps> {
    const tenantId = await this.owner.usableTenant('Conformance isolation');
    return new Steps(this.app.in(tenantId), this.dialect);
  }

  async #finish(role: AgentRole): Promise<FinishedRun> {
    const { interaction } = this.dialect;
    const at = await this.begin(role, `prompt of ${role}`);
    switch (role) {
      case 'echo':
      case 'fail':
        return await this.#ended(at, []);
      case 'ask':
        return await this.#answered(
          at,
          'user_question',
          fill(interaction.answer, { answer: 'blue' }),
        );
      case 'approve':
        return await this.#answered(at, 'permission_request', interaction.allow);
      case 'slow':
        return await this.#cancelled(at);
    }
  }

  async #answered(at: RunAt, type: string, body: unknown): Promise<FinishedRun> {
    const before = await this.steps.until(at, type);
    const key = await this.steps.pendingKey(at.sessionId);
    hasStatus(await this.steps.answer(at.sessionId, key, body), 200, 201, 202, 204);
    return await this.#ended(at, before);
  }

  async #cancelled(at: RunAt): Promise<FinishedRun> {
    const before = await this.steps.until(at, 'message_delta');
    hasStatus(await this.app.post(runPath(at, '/cancel')), 200, 202, 204);
    return await this.#ended(at, before);
  }

  async #ended(at: RunAt, before: readonly Frame[]): Promise<FinishedRun> {
    const rest = await this.steps.follow(at, undefined, before.at(-1)?.id);
    return { at, frames: [...before, ...rest], run: await this.steps.run(at) };
  }
}
