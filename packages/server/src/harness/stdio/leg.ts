import { resolveReferences } from '../../agents/secret-references.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HarnessEvent, LegContext, LegEnd, LegInput } from '../../ports/harness.ts';
import type { Log } from '../../ports/log.ts';
import { type Sandbox, SandboxUnavailable, type SandboxedProcess } from '../../ports/sandbox.ts';
import { agentError, endOfProgram } from './ending.ts';
import { LineTooLong, lineBytesMax, linesOf } from './lines.ts';
import { cancelMessage, readLine, startMessage } from './protocol.ts';
import type { StdioSettings } from './settings.ts';

/** After its `end` event a program has this long to exit. */
const exitGraceMs = 2000;
const interactionsMax = 100;
/** Yields to other work after this many events, however fast the lines come. */
const eventsPerTurn = 512;

export interface StdioParts {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
}

/** One leg: one process, from its start message to its exit. */
export class StdioLeg {
  readonly #parts: StdioParts;
  readonly #input: LegInput;
  readonly #context: LegContext<StdioSettings>;
  #child: SandboxedProcess | undefined;
  #isCancelled = false;
  #asked = 0;
  #redact = (text: string) => text;

  constructor(parts: StdioParts, input: LegInput, context: LegContext<StdioSettings>) {
    this.#parts = parts;
    this.#input = input;
    this.#context = context;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#context;
    const cancel = () => void this.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      yield yield* this.#run();
    } finally {
      signal.removeEventListener('abort', cancel);
      await this.#child?.kill();
    }
  }

  async answer(): Promise<boolean> {
    // The process that asked has exited or is about to: answers come with the next leg.
    return false;
  }

  async cancel(): Promise<void> {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#send(cancelMessage);
    this.#child?.terminate();
  }

  async kill(): Promise<void> {
    this.#isCancelled = true;
    await this.#child?.kill();
  }

  async redact(text: string): Promise<string> {
    return this.#redact(text);
  }

  async *#run(): AsyncGenerator<HarnessEvent, LegEnd> {
    const { settings } = this.#context;
    const resolved = await resolveReferences(settings.env);
    if (!resolved.ok) return agentError(`In the agent's env, ${resolved.message}`);
    this.#redact = resolved.redact;
    const { sessionFolder, stateDir, agent } = this.#context;
    try {
      this.#child = await this.#parts.sandbox.spawn(settings.command, {
        sessionFolder,
        home: stateDir,
        folder: agent.folder,
        ...settings.sandbox,
        limits: settings.limits,
        env: resolved.values,
      });
    } catch (error) {
      if (!(error instanceof SandboxUnavailable)) throw error;
      return { type: 'end', outcome: 'error', code: 'sandbox_unavailable', message: error.message };
    }
    const child = this.#child;
    // Cancelled while the program was starting: it gets no start message.
    if (this.#isCancelled || !this.#context.holdsLease())
      return { type: 'end', outcome: 'cancelled' };
    this.#send(startMessage(this.#input, this.#context, child.places));
    const end = yield* this.#read(child, resolved.redact);
    if (end !== undefined) await this.#waitForExit(child);
    if (this.#isCancelled) {
      await child.exited;
      return { type: 'end', outcome: 'cancelled' };
    }
    if (end !== undefined) return end;
    const exit = await child.exited;
    const errors = resolved.redact(child.errorOutput());
    if (!exit.started) this.#parts.log.warn('a sandbox could not be set up', { reason: errors });
    return endOfProgram(exit, settings, { errors, hasAsked: this.#asked > 0 });
  }

  /** Emits the program's events until its `end` event or the end of its output. */
  async *#read(
    child: SandboxedProcess,
    redact: (text: string) => string,
  ): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
    let number = 0;
    try {
      for await (const line of linesOf(child.stdout)) {
        number += 1;
        const read = readLine(redact(line.text), line);
        if (!read.ok) return agentError(`Line ${number} of the program's output: ${read.problem}.`);
        const { event } = read;
        if (event.type === 'end') return event;
        if (event.type === 'permission_request' || event.type === 'user_question') this.#asked += 1;
        if (this.#asked > interactionsMax) {
          return agentError(`The program asked more than ${interactionsMax} questions in one leg.`);
        }
        if (!this.#isCancelled) yield event;
        if (number % eventsPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error;
      return agentError(`A line of the program's output is longer than ${lineBytesMax} bytes.`);
    }
  }

  async #waitForExit(child: SandboxedProcess): Promise<void> {
    child.stdin.end();
    // Drains the output, so that a program that still writes is not blocked.
    child.stdout.resume();
    const clearTimer = this.#parts.clock.after(exitGraceMs, () => void child.kill());
    await child.exited;
    clearTimer();
  }

  #send(message: object): void {
    const { stdin } = this.#child ?? {};
    if (stdin?.writable === true) stdin.write(`${JSON.stringify(message)}\n`);
  }
}
