import { isDeepStrictEqual } from 'node:util';
import type { SessionId } from '@convoke/contract';
import type { SandboxedProcess } from '../../ports/sandbox.ts';
import { type KeepProcesses, KeptProcesses } from '../kept-processes.ts';
import type { ProcessKeeper, ProgramNeeds } from '../stdio/leg.ts';
import { linesOf } from '../lines.ts';

/** Each takes 40 MB and more. */
const idleMax = 8;
const readyBytesMax = 1024;

/** Facts about a process that the pool does not keep. */
interface StartedProcess {
  readonly env: ProgramNeeds['env'];
  /** Counts the processes that the program has started and that still run. */
  readonly countOthers: () => Promise<number>;
}

/** The processes of agents as code, each kept for its session's next leg (D-185). */
export class CodeProcesses {
  readonly #kept: KeptProcesses<SandboxedProcess>;
  readonly #started = new WeakMap<SandboxedProcess, StartedProcess>();

  constructor(parts: Omit<KeepProcesses, 'idleMax'>) {
    this.#kept = new KeptProcesses({ ...parts, idleMax });
  }

  /** Sessions that have an idle process. */
  idle(): readonly SessionId[] {
    return this.#kept.idle();
  }

  release(sessionId: SessionId): Promise<void> {
    return this.#kept.release(sessionId);
  }

  /** For a leg of an agent whose processes are kept for this long. */
  keeper(idleMs: number): ProcessKeeper {
    return {
      take: (needs) => this.#take(needs),
      admit: (needs, child) => this.#admit(needs, child),
      isClean: async (child) => {
        const count = await this.#started.get(child)?.countOthers();
        return count === 0 && isSilent(child);
      },
      keep: async ({ context }, child) => {
        // Between two legs it must do nothing: no run would count its time, and none could be cancelled (D-476).
        if (await child.suspend()) this.#kept.keep(context, child, idleMs);
        else await child.kill();
      },
    };
  }

  async #take({ context, env }: ProgramNeeds): Promise<SandboxedProcess | undefined> {
    const child = await this.#kept.take(
      context,
      // A secret may have been replaced since.
      (kept) => isSilent(kept) && isDeepStrictEqual(this.#started.get(kept)?.env, env),
    );
    child?.resume();
    child?.dropErrorOutput();
    return child;
  }

  /**
   * Waits until the launcher is about to load the program: every process that is started from then on is the program's.
   */
  async #admit({ context, env }: ProgramNeeds, child: SandboxedProcess): Promise<void> {
    for await (const _ready of linesOf(child.stdout, readyBytesMax)) break;
    this.#started.set(child, { env, countOthers: await child.mark() });
    await this.#kept.admit(context, child);
  }
}

/** A program that writes between two legs would be heard in the next one. */
function isSilent({ stdout }: SandboxedProcess): boolean {
  return stdout.readableLength === 0;
}
