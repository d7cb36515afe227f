import { stat } from 'node:fs/promises';
import type { SessionId } from '@convoke/contract';
import type { Agent } from '../domain/agent.ts';
import type { Clock } from '../ports/clock.ts';
import type { LegContext } from '../ports/harness.ts';
import type { Log } from '../ports/log.ts';
import { inBackground } from '../runtime/in-background.ts';

/** A process of an agent that can serve one leg after the other. */
export interface KeepableProcess {
  readonly exited: Promise<unknown>;
  kill(): Promise<void>;
}

export interface KeepProcesses {
  readonly clock: Clock;
  readonly log: Log;
  /** How many may be idle at a time; the one that has been idle for longest ends first. */
  readonly idleMax: number;
}

interface KeptProcess<Process> {
  readonly process: Process;
  readonly agent: Agent;
  /** Identifies the session's folders as the process sees them. */
  readonly folders: string;
  isBusy: boolean;
  forgetTimer: () => void;
}

type Owner = Pick<LegContext, 'sessionId' | 'agent' | 'sessionFolder' | 'stateDir'>;

/**
 * The processes of sessions, each kept for the next leg of its own session and never given to another (D-185). A
 * process is busy while a leg uses it and idle between legs. It ends after its idle time, when too many are idle, when
 * its session ends, when a leg needs another one, or on its own.
 */
export class KeptProcesses<Process extends KeepableProcess> {
  readonly #options: KeepProcesses;
  /** In the order in which they became idle. */
  readonly #kept = new Map<SessionId, KeptProcess<Process>>();

  constructor(options: KeepProcesses) {
    this.#options = options;
  }

  /** Sessions that have an idle process. */
  idle(): readonly SessionId[] {
    return this.#idle().map(([id]) => id);
  }

  /**
   * Returns the session's idle process, which is busy from then on. Ends it instead if its agent was read again, its
   * folders were restored from an archive or it is not right, and also if it is busy: its leg has lost the run.
   */
  async take(
    owner: Owner,
    isRight: (process: Process) => boolean = () => true,
  ): Promise<Process | undefined> {
    const { sessionId, agent } = owner;
    if (!this.#kept.has(sessionId)) return undefined;
    const folders = await foldersOf(owner);
    const kept = this.#kept.get(sessionId);
    if (kept === undefined) return undefined;
    const isSame = kept.agent === agent && kept.folders === folders;
    if (!kept.isBusy && isSame && isRight(kept.process)) {
      kept.forgetTimer();
      kept.isBusy = true;
      return kept.process;
    }
    await this.#end(sessionId, kept);
    return undefined;
  }

  /** Takes in a process that was started for a leg; it is busy. */
  async admit(owner: Owner, process: Process): Promise<void> {
    const { sessionId, agent } = owner;
    const folders = await foldersOf(owner);
    const busy = { isBusy: true, forgetTimer: () => undefined };
    const kept: KeptProcess<Process> = { process, agent, folders, ...busy };
    this.#kept.set(sessionId, kept);
    inBackground(process.exited.then(() => this.#forget(sessionId, kept)));
  }

  /** Keeps the process of a leg that has ended for this long. */
  keep({ sessionId }: Pick<Owner, 'sessionId'>, process: Process, idleMs: number): void {
    const kept = this.#kept.get(sessionId);
    // A later leg of the session has started another one.
    if (kept?.process !== process) return this.#letGo(process);
    kept.isBusy = false;
    this.#kept.delete(sessionId);
    this.#kept.set(sessionId, kept);
    kept.forgetTimer = this.#options.clock.after(idleMs, () => this.#retire(sessionId, kept));
    const idle = this.#idle();
    const [longest] = idle;
    if (idle.length > this.#options.idleMax && longest !== undefined) this.#retire(...longest);
  }

  /** Ends the session's process if it is idle. */
  async release(sessionId: SessionId): Promise<void> {
    const kept = this.#kept.get(sessionId);
    if (kept?.isBusy === false) await this.#end(sessionId, kept);
  }

  /**
   * Ends this process of the session if it is idle: a leg that has given it back must not take it from the next one.
   */
  async end({ sessionId }: Pick<Owner, 'sessionId'>, process: Process): Promise<void> {
    const kept = this.#kept.get(sessionId);
    if (kept?.process === process && !kept.isBusy) await this.#end(sessionId, kept);
  }

  #idle(): [SessionId, KeptProcess<Process>][] {
    return [...this.#kept].filter(([, { isBusy }]) => !isBusy);
  }

  #retire(sessionId: SessionId, kept: KeptProcess<Process>): void {
    this.#forget(sessionId, kept);
    this.#letGo(kept.process);
  }

  #letGo(process: Process): void {
    process
      .kill()
      .catch((error: unknown) => this.#options.log.error('ending an idle agent failed', error));
  }

  async #end(sessionId: SessionId, kept: KeptProcess<Process>): Promise<void> {
    this.#forget(sessionId, kept);
    await kept.process.kill();
  }

  /** Compares by identity: when an old process exits, the session often has a new one already. */
  #forget(sessionId: SessionId, kept: KeptProcess<Process>): void {
    kept.forgetTimer();
    if (this.#kept.get(sessionId) === kept) this.#kept.delete(sessionId);
  }
}

/**
 * A folder that was restored has the same path as before, but the sandbox of a process still shows the old one (D-365).
 */
async function foldersOf({ sessionFolder, stateDir }: Owner): Promise<string> {
  const found = await Promise.all(
    [sessionFolder, stateDir].map((path) => stat(path, { bigint: true }).catch(() => undefined)),
  );
  return found.map((stats) => `${stats?.dev}:${stats?.ino}`).join(' ');
}
