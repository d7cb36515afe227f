import { isDeepStrictEqual } from 'node:util';
import type { SessionId } from '@convoke/contract';
import type { Clock } from '../../ports/clock.ts';
import type { Harness, Leg, LegContext, LegInput } from '../../ports/harness.ts';
import type { Log } from '../../ports/log.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import { KeptProcesses } from '../kept-processes.ts';
import { LazyLeg } from '../lazy-leg.ts';
import { resolveEquipment } from '../resolve-equipment.ts';
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

class AcpHarness implements Harness<AcpSettings> {
  readonly framework = 'acp';
  readonly runsPrograms = true;
  readonly readsWords = true;
  readonly afterLoss = 'continue';
  /** 2: requests that wait for a person. */
  readonly checkpointFormat = 2;
  /** Calls that the agent makes without asking pass no ledger, so its author has to choose. */
  readonly onLoss = 'fail';
  readonly countsTokens = true;
  /** The protocol answers a request with one of the agent's own options (D-248). */
  readonly hasFixedToolInput = true;
  readonly read = readAcp;
  readonly #parts: AcpParts;
  readonly #processes: KeptProcesses<AgentProcess>;

  constructor(parts: AcpParts) {
    this.#parts = parts;
    this.#processes = new KeptProcesses({ ...parts, idleMax });
  }

  start(input: LegInput, context: LegContext<AcpSettings>): Leg {
    const { log } = this.#parts;
    const parts = {
      input,
      context,
      open: (signal: AbortSignal) => this.#open(context, signal),
      onFree: (process: AgentProcess) => this.#processes.keep(context, process, idleMs),
      endFree: (process: AgentProcess) => this.#processes.end(context, process),
      onFault: (error: unknown) => log.error('ACP leg failed', error, { run_id: context.runId }),
    };
    return new LazyLeg(import('./leg.ts').then(({ AcpLeg }) => new AcpLeg(parts)));
  }

  kept(): readonly SessionId[] {
    return this.#processes.idle();
  }

  release(sessionId: SessionId): Promise<void> {
    return this.#processes.release(sessionId);
  }

  async #open(context: LegContext<AcpSettings>, signal: AbortSignal): Promise<OpenProcess> {
    const state = stateOf(context.state);
    const equipment = await resolveEquipment(context.settings, context.connections);
    const { env, mcpServers } = equipment;
    // A process whose conversation differs from the checkpoint is replaced, and one whose secrets have changed.
    const kept = await this.#processes.take(
      context,
      ({ session, run, equipment: before }) =>
        session === state?.session &&
        run === state.run &&
        isDeepStrictEqual(before, { env, mcpServers }),
    );
    if (kept !== undefined) {
      kept.run = context.runId;
      return { process: kept, memory: 'kept' };
    }
    // Imported lazily: the protocol's SDK would cost servers without ACP agents 50 ms and 8 MB.
    const { startAgent } = await import('./start.ts');
    const { process, isKnown } = await startAgent(
      { ...this.#parts, context, equipment, signal },
      state?.session,
    );
    process.run = context.runId;
    process.equipment = { env, mcpServers };
    await this.#processes.admit(context, process);
    if (state === undefined) return { process, memory: 'none' };
    return { process, memory: isKnown ? 'kept' : 'lost' };
  }
}
