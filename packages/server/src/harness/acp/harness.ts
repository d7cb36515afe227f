import type { SessionId } from '@convoke/contract';
import type { Agent } from '../../domain/agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Harness, Leg, LegContext, LegInput } from '../../ports/harness.ts';
import type { Log } from '../../ports/log.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import { inBackground } from '../../runtime/in-background.ts';
import { LazyLeg } from '../lazy-leg.ts';
import type { OpenProcess } from './leg.ts';
import type { AgentProcess } from './process.ts';
import { type AcpSettings, readAcp } from './settings.ts';
import { stateOf } from './state.ts';

/** Processes are kept for the time of a conversation only: each takes 100 MB and more. */
const idleMs = 5 * 60_000;
const idleMax = 16;

export interface AcpParts {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs any program that implements the Agent Client Protocol over stdin and stdout, one process per session. */
export function acpHarness(parts: AcpParts): Harness<AcpSettings> {
  return new AcpHarness(parts);
}

/**
 * A process that is kept for its session's next leg. It starts with the first leg that needs it, is busy while a leg
 * uses it and idle between legs. It ends after `idleMs`, when more than `idleMax` processes are idle, when the session
 * ends, or on its own.
 */
interface Warm {
  readonly process: AgentProcess;
  readonly agent: Agent;
  /** The last run that used it. */
  run: string;
  isBusy: boolean;
  forgetTimer: () => void;
}

class AcpHarness implements Harness<AcpSettings> {
  readonly framework = 'acp';
  readonly runsPrograms = true;
  readonly afterLoss = 'continue';
  /** 2: requests that wait for a person. */
  readonly checkpointFormat = 2;
  /** What the agent does without asking passes no ledger, so its author has to choose. */
  readonly onLoss = 'fail';
  readonly countsTokens = true;
  /** The protocol answers a request with one of the agent's own options (D-248). */
  readonly hasFixedToolInput = true;
  readonly read = readAcp;
  readonly #parts: AcpParts;
  /** In the order in which they became idle. */
  readonly #warm = new Map<SessionId, Warm>();

  constructor(parts: AcpParts) {
    this.#parts = parts;
  }

  start(input: LegInput, context: LegContext<AcpSettings>): Leg {
    const { log } = this.#parts;
    const parts = {
      input,
      context,
      open: (signal: AbortSignal) => this.#open(context, signal),
      onFree: (process: AgentProcess) => this.#keep(context, process),
      onFault: (error: unknown) => log.error('ACP leg failed', error, { run_id: context.runId }),
    };
    return new LazyLeg(import('./leg.ts').then(({ AcpLeg }) => new AcpLeg(parts)));
  }

  kept(): readonly SessionId[] {
    return [...this.#warm].flatMap(([id, { isBusy }]) => (isBusy ? [] : [id]));
  }

  async release(sessionId: SessionId): Promise<void> {
    const warm = this.#warm.get(sessionId);
    if (warm?.isBusy === false) await this.#end(sessionId, warm);
  }

  async #open(context: LegContext<AcpSettings>, signal: AbortSignal): Promise<OpenProcess> {
    const { sessionId, agent, runId } = context;
    const state = stateOf(context.state);
    const warm = this.#warm.get(sessionId);
    // A process whose conversation differs from the checkpoint, or that runs an older agent.yaml, is replaced.
    const isCurrent =
      warm?.agent === agent && warm.process.session === state?.session && warm.run === state.run;
    if (warm !== undefined && isCurrent && !warm.isBusy) {
      warm.forgetTimer();
      warm.isBusy = true;
      warm.run = runId;
      return { process: warm.process, memory: 'kept' };
    }
    if (warm !== undefined) await this.#end(sessionId, warm);
    // Imported lazily: the protocol's SDK would cost servers without ACP agents 50 ms and 8 MB.
    const { startAgent } = await import('./start.ts');
    const started = await startAgent({ ...this.#parts, context, signal }, state?.session);
    this.#admit(context, started.process);
    if (state === undefined) return { process: started.process, memory: 'none' };
    return { process: started.process, memory: started.isKnown ? 'kept' : 'lost' };
  }

  #admit({ sessionId, agent, runId }: LegContext, process: AgentProcess): void {
    const warm: Warm = { process, agent, run: runId, isBusy: true, forgetTimer: () => undefined };
    this.#warm.set(sessionId, warm);
    inBackground(process.exited.then(() => this.#forget(sessionId, warm)));
  }

  #keep({ sessionId }: LegContext, process: AgentProcess): void {
    const warm = this.#warm.get(sessionId);
    if (warm?.process !== process) return;
    warm.isBusy = false;
    this.#warm.delete(sessionId);
    this.#warm.set(sessionId, warm);
    warm.forgetTimer = this.#parts.clock.after(idleMs, () => this.#letGo(sessionId, warm));
    const idle = [...this.#warm].filter(([, { isBusy }]) => !isBusy);
    const [longest] = idle;
    if (idle.length > idleMax && longest !== undefined) this.#letGo(...longest);
  }

  #letGo(sessionId: SessionId, warm: Warm): void {
    this.#end(sessionId, warm).catch((error: unknown) =>
      this.#parts.log.error('ending an idle ACP agent failed', error),
    );
  }

  async #end(sessionId: SessionId, warm: Warm): Promise<void> {
    this.#forget(sessionId, warm);
    await warm.process.kill();
  }

  /** Compares by identity: when an old process exits, the session often has a new one already. */
  #forget(sessionId: SessionId, warm: Warm): void {
    warm.forgetTimer();
    if (this.#warm.get(sessionId) === warm) this.#warm.delete(sessionId);
  }
}
