import { traceVariable } from '../trace-variable.ts';
import { hiddenSecret, resolveReferences } from '../../agents/secret-references.ts';
import { limits } from '@convoke/contract';
import type { Json } from '../../domain/json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HarnessEvent, LegContext, LegEnd, LegInput } from '../../ports/harness.ts';
import type { Log } from '../../ports/log.ts';
import { type Sandbox, SandboxUnavailable, type SandboxedProcess } from '../../ports/sandbox.ts';
import { inBackground } from '../../runtime/in-background.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { ReadingPace } from '../message-bounds.ts';
import { agentError, endOfProgram, shownErrors } from './ending.ts';
import { LineTooLong, linesOf } from '../lines.ts';
import {
  type ProgramMessage,
  cancelMessage,
  readLine,
  startMessage,
  yieldMessage,
} from './protocol.ts';
import { type CallsOfProgram, ProgramCalls } from './program-calls.ts';
import type { StdioSettings } from './settings.ts';
import { type ShowOutput, eachLine } from './shown-output.ts';
import { standstill, standstillEvent, watchedLines } from './standstill.ts';

/** After its `end` event a program has this long to exit. */
const exitGraceMs = 2000;
const interactionsMax = 100;
/** Each leg gets all of them with its start message. */
const waitsMax = 10_000;
/** Yields to other work after this many events, however fast the lines come. */
const eventsPerTurn = 512;

/** How the program of a leg is started and heard. */
export interface StartedProgram extends CallsOfProgram {
  readonly command: readonly string[];
  /** Files beside the agent's own that it needs. */
  readonly readOnly: readonly string[];
  /** Variables beside those of the agent, which come first. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: every leg has a process of its own. */
  readonly keeper?: ProcessKeeper;
  readonly lineBytesMax: number;
  /** Whether a program that exits with code 0 has completed its run, also without an `end` event. */
  readonly endsByExit: boolean;
  /** The file whose function answers pings; absent for a program without a kit. */
  readonly watched?: string;
  /** The end of the leg with the lines of standard error that help the author of the program. */
  endWith(end: LegEnd, errors: string): LegEnd;
}

/** Keeps the process of a leg for the session's next one. */
export interface ProcessKeeper {
  /** The process of the session's leg before, if it is still right. */
  take(needs: ProgramNeeds): Promise<SandboxedProcess | undefined>;
  /** Resolves when a process that was started for a leg can get its start message, or has ended. */
  admit(needs: ProgramNeeds, child: SandboxedProcess): Promise<void>;
  /** Whether no process of the program would run between two legs. */
  isClean(child: SandboxedProcess): Promise<boolean>;
  /** Keeps it, stopped, or ends it. */
  keep(needs: ProgramNeeds, child: SandboxedProcess): Promise<void>;
}

/** The purpose of a process. */
export interface ProgramNeeds {
  readonly context: LegContext<StdioSettings>;
  /** With its secrets. */
  readonly env: Readonly<Record<string, string>>;
}

export interface StdioParts {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly showOutput?: ShowOutput | undefined;
}

/** The parts that a harness starts a leg with. */
export interface StartedLeg {
  readonly input: LegInput;
  readonly context: LegContext<StdioSettings>;
}

/**
 * How far the process of a leg is. Each moves to the next; a kept process that ends before it worked is replaced once,
 * and the new one begins at `starting`.
 *
 * - `starting`: it has no start message yet. Nothing is sent to it.
 * - `started`: it has its start message, which is its first line, and has done nothing in this leg.
 * - `working`: it has emitted something or begun a call, so it cannot be replaced and must yield with a checkpoint.
 */
type ProcessPhase = 'starting' | 'started' | 'working';

/**
 * The server's last request to a leg. It only moves down this list:
 *
 * - `run`: the leg runs to its end.
 * - `yield`: the server stops. The process is asked to end at a safe point, with `yielded`.
 * - `cancel`: cancelled or killed, for good. The leg ends `cancelled`, whatever the process still writes.
 */
type WantedEnd = 'run' | 'yield' | 'cancel';

/** One leg: one process, from its start message to its exit or to the start message of the next leg. */
export class StdioLeg {
  readonly #parts: StdioParts;
  readonly #input: LegInput;
  readonly #context: LegContext<StdioSettings>;
  readonly #program: StartedProgram;
  #child: SandboxedProcess | undefined;
  #phase: ProcessPhase = 'starting';
  #wanted: WantedEnd = 'run';
  #asked = 0;
  #waits = 0;
  readonly #calls: ProgramCalls;
  /** The last checkpoint of this leg. */
  #state: Json | undefined;
  #redact = (text: string) => text;

  constructor(parts: StdioParts, started: StartedLeg, program: StartedProgram) {
    this.#parts = parts;
    this.#input = started.input;
    this.#context = started.context;
    this.#program = program;
    const send = (message: object) => this.#send(message);
    this.#calls = new ProgramCalls({ context: started.context, program, send }, started.input);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#context;
    const cancel = () => inBackground(this.cancel());
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
    if (this.#wanted === 'cancel') return;
    this.#wanted = 'cancel';
    this.#send(cancelMessage);
    this.#child?.terminate();
  }

  async yield(): Promise<void> {
    if (this.#wanted !== 'run') return;
    this.#wanted = 'yield';
    if (this.#phase !== 'starting') this.#send(yieldMessage);
  }

  async kill(): Promise<void> {
    this.#wanted = 'cancel';
    await this.#child?.kill();
  }

  async redact(text: string): Promise<string> {
    return this.#redact(text);
  }

  async *#run(): AsyncGenerator<HarnessEvent, LegEnd> {
    const { settings, connections } = this.#context;
    const resolved = await resolveReferences(settings.env, { connections });
    if (!resolved.ok) return agentError(`In the agent's env, ${resolved.message}`);
    this.#redact = resolved.redact;
    const needs = { context: this.#context, env: resolved.values };
    this.#child = await this.#program.keeper?.take(needs);
    let end = this.#child === undefined ? undefined : yield* this.#lead(this.#child);
    // A kept process that ended before it did anything in this leg is replaced.
    if (end === undefined && this.#phase !== 'working' && this.#wanted !== 'cancel') {
      try {
        this.#child = await this.#spawn(needs);
      } catch (error) {
        if (!(error instanceof SandboxUnavailable)) throw error;
        return sandboxUnavailable(error.message);
      }
      end = yield* this.#lead(this.#child);
    }
    return this.#finish(needs, end);
  }

  async #spawn(needs: ProgramNeeds): Promise<SandboxedProcess> {
    const { sessionFolder, stateDir, agent, settings } = this.#context;
    const { command, readOnly, env, keeper } = this.#program;
    const { showOutput } = this.#parts;
    const child = await this.#parts.sandbox.spawn(command, {
      sessionFolder,
      home: stateDir,
      folder: agent.folder,
      readOnly,
      ...settings.sandbox,
      limits: settings.limits,
      env: { ...traceVariable(this.#context), ...env, ...needs.env },
      onErrorOutput: showOutput && eachLine((line) => showOutput(agent.name, this.#redact(line))),
    });
    this.#child = child;
    await keeper?.admit(needs, child);
    return child;
  }

  /** Sends the start message and emits the events of the process, to its `end` or the end of its output. */
  async *#lead(child: SandboxedProcess): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
    this.#phase = 'starting';
    // Cancelled while the program was starting: it gets no start message.
    if (this.#wanted === 'cancel' || !this.#context.holdsLease())
      return { type: 'end', outcome: 'cancelled' };
    this.#send(startMessage(this.#input, this.#context, child.places));
    this.#phase = 'started';
    if (this.#wanted === 'yield') this.#send(yieldMessage);
    return yield* this.#read(child);
  }

  async #finish(needs: ProgramNeeds, end: LegEnd | undefined): Promise<LegEnd> {
    const child = this.#child;
    if (child === undefined || this.#phase === 'starting')
      return end ?? { type: 'end', outcome: 'cancelled' };
    if (end !== undefined) {
      if (await this.#canBeKept(child, end)) {
        this.#child = undefined;
        await this.#program.keeper?.keep(needs, child);
        return end;
      }
      await this.#waitForExit(child);
    }
    const exit = await child.exited;
    if (this.#wanted === 'cancel') return { type: 'end', outcome: 'cancelled' };
    const errors = this.#redact(child.errorOutput());
    if (end !== undefined) return this.#program.endWith(end, errors);
    if (!exit.started) this.#parts.log.warn('a sandbox could not be set up', { reason: errors });
    if (exit.started && exit.code === 0 && !this.#program.endsByExit) {
      return agentError(
        `The process ended before the agent function returned.${shownErrors(errors)}`,
      );
    }
    return endOfProgram(exit, this.#context.settings, { errors, hasAsked: this.#asked > 0 });
  }

  /** Not after an error, a cancel or a hand-over: the next leg then begins with a new process. */
  async #canBeKept(child: SandboxedProcess, { outcome }: LegEnd): Promise<boolean> {
    if (outcome !== 'completed' && outcome !== 'waiting') return false;
    const isClean = (await this.#program.keeper?.isClean(child)) ?? false;
    return isClean && this.#wanted === 'run';
  }

  /** Emits the program's events until its `end` event or the end of its output. */
  async *#read(child: SandboxedProcess): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
    const { lineBytesMax } = this.#program;
    const pace = new ReadingPace(this.#parts.clock);
    let number = 0;
    try {
      for await (const line of this.#linesOf(child)) {
        if (line === standstill) {
          yield standstillEvent(this.#program.watched ?? '');
          continue;
        }
        number += 1;
        const text = this.#redact(line.text);
        const read = readLine(text, line);
        const pause = pace.charge({ bytes: line.bytes, values: read.values });
        if (!read.ok) return agentError(`Line ${number} of the program's output: ${read.problem}.`);
        const { event } = read;
        const named = text === line.text ? undefined : refOf(event);
        if (named?.includes(hiddenSecret) === true) return agentError(secretInName(named));
        if (event.type === 'end') return yield* this.#endOf(event);
        const problem = yield* this.#take(event);
        if (problem !== undefined) return agentError(problem);
        if (number % eventsPerTurn === 0) await nextTurn();
        if (pause !== undefined) await pause;
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error;
      return agentError(`A line of the program's output is longer than ${lineBytesMax} bytes.`);
    }
  }

  #linesOf(child: SandboxedProcess): ReturnType<typeof watchedLines> {
    const lines = linesOf(child.stdout, this.#program.lineBytesMax);
    if (this.#program.watched === undefined) return lines;
    return watchedLines(lines, {
      clock: this.#parts.clock,
      send: (message) => this.#send(message),
    });
  }

  /** Emits one event, or writes one entry of the ledger. Returns the problem if it is invalid. */
  async *#take(
    message: Exclude<ProgramMessage, LegEnd>,
  ): AsyncGenerator<HarnessEvent, string | undefined> {
    if (this.#wanted === 'cancel') return undefined;
    this.#phase = 'working';
    switch (message.type) {
      case 'call_begin':
        return yield* this.#calls.begin(message.call);
      case 'call_end':
        this.#state = message.point ?? this.#state;
        return yield* this.#calls.end(message);
      case 'permission_request':
      case 'user_question':
        this.#asked += 1;
        if (this.#asked > interactionsMax) {
          return `The program asked more than ${interactionsMax} questions in one leg.`;
        }
        if (message.type === 'user_question' || !this.#program.asksByCallId) break;
        yield { ...message, toolCallId: message.ref };
        return undefined;
      case 'wait': {
        const problem = this.#waitProblem(message);
        if (problem !== undefined) return problem;
        break;
      }
      case 'checkpoint':
        this.#state = message.state;
        break;
      case 'custom':
        this.#state = message.point ?? this.#state;
        break;
      case 'message_delta':
      case 'usage':
        break;
      default:
        return message satisfies never;
    }
    yield message;
    return undefined;
  }

  #waitProblem({ due }: Extract<ProgramMessage, { type: 'wait' }>): string | undefined {
    this.#waits += 1;
    if (this.#waits > interactionsMax) {
      return `The agent began more than ${interactionsMax} waits in one leg.`;
    }
    const known = this.#input.kind === 'continue' ? (this.#input.waits?.size ?? 0) : 0;
    if (known + this.#waits > waitsMax) return `The agent began more than ${waitsMax} waits.`;
    const latest = this.#parts.clock.now() + limits.waitMaxSeconds * 1000;
    if (due !== undefined && 'at' in due && due.at > latest)
      return 'A wait takes at most 366 days.';
    return undefined;
  }

  /** A program that yields continues from its last checkpoint, which covers all that it said. */
  async *#endOf(end: LegEnd): AsyncGenerator<HarnessEvent, LegEnd> {
    if (end.outcome !== 'yielded') return end;
    if (this.#wanted === 'run') return agentError('The program yielded without being asked to.');
    // Nothing was done in this leg: the state it started with still holds.
    if (this.#phase !== 'working') return end;
    if (this.#state === undefined) {
      return agentError('The program yielded without a checkpoint to continue from.');
    }
    yield { type: 'checkpoint', state: this.#state, recovery: true };
    return end;
  }

  async #waitForExit(child: SandboxedProcess): Promise<void> {
    child.stdin.end();
    // Drains the output, so that a program that still writes is not blocked.
    child.stdout.resume();
    const clearTimer = this.#parts.clock.after(exitGraceMs, () => inBackground(child.kill()));
    await child.exited;
    clearTimer();
  }

  #send(message: object): void {
    const { stdin } = this.#child ?? {};
    if (stdin?.writable === true) stdin.write(`${JSON.stringify(message)}\n`);
  }
}

/** The name by which program and server know a step or a request. */
function refOf(event: ProgramMessage): string | undefined {
  if (event.type === 'call_begin') return event.call.ref;
  return 'ref' in event ? event.ref : undefined;
}

/** The program would wait for an answer under a name that the server does not know (D-475). */
function secretInName(name: string): string {
  return `The step or request named "${name}" has a secret of the agent's env in its name, which is stored and shown. Choose a name without it; the step itself may use the secret.`;
}

function sandboxUnavailable(message: string): LegEnd {
  return { type: 'end', outcome: 'error', code: 'sandbox_unavailable', message };
}
