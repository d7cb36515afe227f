import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import type { Agent as Program } from '@convoke/agent';
import { bodyOf } from '../../../../agent/src/agent.ts';
import { Leg } from '../../../../agent/src/leg.ts';
import type { ServerMessage, StartMessage } from '../../../../agent/src/lines.ts';
import { perform } from '../../../../agent/src/perform.ts';
import { codeHarness } from '../../../src/harness/code/harness.ts';
import type { Harness } from '../../../src/ports/harness.ts';
import type { Places, ProcessExit, Sandbox, SandboxedProcess } from '../../../src/ports/sandbox.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { recordingLog } from '../../support/agent-folders.ts';

/**
 * The adapter of agents as code, with the kit in this process: everything is real but the sandbox and the start of
 * Node, so that a leg takes milliseconds. `program` is called for each leg, as a file is read by each process.
 */
export function inProcessHarness(program: () => Program): Harness {
  const sandbox: Sandbox = {
    account: undefined,
    folder: '/nonexistent',
    describe: () => Promise.reject(new Error('there is no sandbox')),
    keepAlive: () => {},
    close: async () => {},
    spawn: async (command, { sessionFolder, home, folder }) =>
      new KitProcess(program, { sessionFolder, home, folder }, command.includes('--serve')),
  };
  return codeHarness({ sandbox, clock: systemClock, log: recordingLog() });
}

/** Executes legs as the launcher does. What is left of the program after a kill is heard by nothing. */
class KitProcess implements SandboxedProcess {
  readonly places: Places;
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly #program: () => Program;
  readonly #isServing: boolean;
  readonly #ended = Promise.withResolvers<ProcessExit>();
  #leg: Leg | undefined;
  #isOver = false;

  constructor(program: () => Program, places: Places, isServing: boolean) {
    this.#program = program;
    this.places = places;
    this.#isServing = isServing;
    if (isServing) this.#write({ type: 'ready' });
    const lines = createInterface({ input: this.stdin });
    lines.on('line', (line) => this.#take(JSON.parse(line) as StartMessage | ServerMessage));
    lines.on('close', () => this.#end(0));
  }

  get exited(): Promise<ProcessExit> {
    return this.#ended.promise;
  }

  errorOutput(): string {
    return '';
  }

  dropErrorOutput(): void {}

  async mark(): Promise<() => Promise<number>> {
    return async () => 0;
  }

  async suspend(): Promise<boolean> {
    return true;
  }

  resume(): void {}

  terminate(): void {}

  async kill(): Promise<void> {
    this.#end(137);
  }

  #take(message: StartMessage | ServerMessage): void {
    if (this.#isOver) return;
    if (message.type !== 'start') {
      this.#leg?.receive(message);
      return;
    }
    const leg = new Leg({ start: message, send: (line) => this.#write(line) });
    this.#leg = leg;
    const body = bodyOf(this.#program());
    if (body === undefined) throw new Error('not an agent');
    leg
      .run(() => perform(leg, body))
      .then(
        () => (this.#isServing ? undefined : this.#end(0)),
        () => this.#end(1),
      );
  }

  #write(line: object): void {
    if (!this.#isOver) this.stdout.write(`${JSON.stringify(line)}\n`);
  }

  #end(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.stdout.end();
    this.#ended.resolve({ started: true, code, outOfMemory: false, timedOut: false });
  }
}
