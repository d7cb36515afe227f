import type { Json } from '../../src/domain/json.ts';
import type { AfterLoss } from '../../src/domain/run/recovery.ts';
import type {
  Answer,
  Harness,
  HarnessEvent,
  Leg,
  LegContext,
  LegInput,
  ReadSettings,
} from '../../src/ports/harness.ts';
import type { AgentYaml } from './agents.ts';

/**
 * A framework whose agents do what a test says, when it says so: emit this, wait, ignore a cancel, take an
 * answer while running. It implements the same port as every other framework.
 */
export class Puppet implements Harness {
  readonly framework = 'puppet';
  readonly afterLoss: AfterLoss;
  readonly #started: PuppetLeg[] = [];
  readonly #awaited: ((leg: PuppetLeg) => void)[] = [];

  constructor({ afterLoss = 'none' }: { readonly afterLoss?: AfterLoss } = {}) {
    this.afterLoss = afterLoss;
  }

  /** An agent of this framework. */
  agent(more: AgentYaml = {}): AgentYaml {
    return { framework: 'puppet', description: 'Does what the test says', ...more };
  }

  read(): ReadSettings<undefined> {
    return { ok: true, settings: undefined };
  }

  start(input: LegInput, context: LegContext): Leg {
    const leg = new PuppetLeg(input, context);
    const waiting = this.#awaited.shift();
    if (waiting === undefined) this.#started.push(leg);
    else waiting(leg);
    return leg;
  }

  /** Whether a leg has started that was not asked for yet. */
  get hasStarted(): boolean {
    return this.#started.length > 0;
  }

  /** The next leg that starts, or has started and was not asked for yet. */
  async leg(): Promise<PuppetLeg> {
    return this.#started.shift() ?? new Promise((resolve) => this.#awaited.push(resolve));
  }
}

export class PuppetLeg implements Leg {
  readonly input: LegInput;
  readonly context: LegContext;
  /** Answers it was offered while it ran, by `ref`. */
  readonly answers = new Map<string, Answer>();
  /** Whether it takes an answer while it runs, as a live runtime does. */
  isLive = false;
  /** Whether it ends when it is asked to. */
  isObedient = true;
  readonly cancelled = Promise.withResolvers<void>();
  /** Resolves when the server asks it to hand its run over. */
  readonly asked = Promise.withResolvers<void>();
  /** Whether it hands its run over as soon as it is asked to. */
  isYielding = false;
  readonly killed = Promise.withResolvers<void>();
  readonly #events: (HarnessEvent | Error)[] = [];
  #wake = () => {};

  constructor(input: LegInput, context: LegContext) {
    this.input = input;
    this.context = context;
  }

  emit(...events: HarnessEvent[]): void {
    this.#events.push(...events);
    this.#wake();
  }

  say(text: string): void {
    this.emit({ type: 'message_delta', text });
  }

  /** A recovery point behind everything it has said. */
  point(state: Json = null): void {
    this.emit({ type: 'checkpoint', state, recovery: true });
  }

  end(outcome: 'completed' | 'cancelled' | 'waiting' | 'yielded' = 'completed'): void {
    this.emit({ type: 'end', outcome });
  }

  /** The framework itself breaks. */
  break(error: Error): void {
    this.#events.push(error);
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event instanceof Error) throw event;
      if (event !== undefined) yield event;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async answer(ref: string, answer: Answer): Promise<boolean> {
    if (this.isLive) this.answers.set(ref, answer);
    return this.isLive;
  }

  async cancel(): Promise<void> {
    this.cancelled.resolve();
    if (this.isObedient) this.end('cancelled');
  }

  async yield(): Promise<void> {
    this.asked.resolve();
    if (this.isYielding) this.end('yielded');
  }

  async kill(): Promise<void> {
    this.killed.resolve();
  }
}
