// A framework for these tests: its agent says something, makes one call with an effect, adds a line to a file of its
// session folder, and says something more. It waits until each step is durable, so that every seat is a moment of its
// own.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  Answer,
  Harness,
  HarnessEvent,
  Leg,
  LegContext,
  LegInput,
} from '../../../src/ports/harness.ts';
import type { EffectLedger } from './effect-ledger.ts';
import type { ServerLife } from './seat-store.ts';

const callRef = 'call-1';
const callInput = { amount: 5 };
export const wholeText = 'A1 A2 B C';
/** The file with one line for each time that an agent came to its last words. */
export const diaryName = 'diary.txt';

const yielded: HarnessEvent = { type: 'end', outcome: 'yielded' };

export interface ActorParts {
  readonly life: ServerLife;
  readonly effects: EffectLedger;
  /** What is durable: the last event of the run, and the last event that its recovery point covers. */
  readonly durable: (context: LegContext) => Promise<Durable>;
}

export interface Durable {
  readonly lastSeq: number;
  readonly pointSeq: number;
}

export function actorHarness(parts: ActorParts): Harness {
  return {
    framework: 'actor',
    afterLoss: 'repeat',
    keepsCutText: true,
    read: () => ({ ok: true, settings: undefined }),
    start: (input, context) => new ActorLeg(parts, input, context),
  };
}

class ActorLeg implements Leg {
  readonly #parts: ActorParts;
  readonly #input: LegInput;
  readonly #context: LegContext;
  #isAskedToYield = false;
  /** What was said behind the recovery point and is not to be said again. */
  #cut: string;

  constructor(parts: ActorParts, input: LegInput, context: LegContext) {
    this.#parts = parts;
    this.#input = input;
    this.#context = context;
    this.#cut = context.cut ?? '';
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent> {
    const { life } = this.#parts;
    await life.pass(this.#context.prompt, 'before the prompt');
    const step = this.#stepToGoOnFrom();
    if (step < 1) {
      yield* this.#say('A1 ');
      yield* this.#say('A2 ');
      yield* this.#pointAt(1);
      if (this.#isAskedToYield) return yield yielded;
    }
    if (step < 2) {
      const outcome = yield* this.#call();
      if (outcome !== undefined) {
        yield { type: 'end', outcome };
        return;
      }
      yield* this.#say('B ');
      yield* this.#pointAt(2);
      if (this.#isAskedToYield) return yield yielded;
    }
    const { sessionFolder, prompt } = this.#context;
    appendFileSync(join(sessionFolder, diaryName), `${prompt}\n`);
    yield* this.#say('C');
    yield { type: 'end', outcome: 'completed' };
  }

  #stepToGoOnFrom(): number {
    const { state, runId } = this.#context;
    const saved = state as { run?: string; step?: number } | undefined;
    return this.#input.kind !== 'prompt' && saved?.run === runId ? (saved.step ?? 0) : 0;
  }

  async *#say(text: string): AsyncGenerator<HarnessEvent> {
    if (this.#cut.startsWith(text)) {
      this.#cut = this.#cut.slice(text.length);
      return;
    }
    const { lastSeq } = await this.#parts.durable(this.#context);
    yield { type: 'message_delta', text };
    await this.#until(async () => (await this.#parts.durable(this.#context)).lastSeq > lastSeq);
  }

  async *#pointAt(step: number): AsyncGenerator<HarnessEvent> {
    const { lastSeq } = await this.#parts.durable(this.#context);
    yield { type: 'checkpoint', state: { run: this.#context.runId, step }, recovery: true };
    await this.#until(async () => (await this.#parts.durable(this.#context)).pointSeq === lastSeq);
  }

  /** Continues once the step is durable. */
  async #until(isDurable: () => Promise<boolean>): Promise<void> {
    while (!this.#context.signal.aborted && !(await isDurable())) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** The one call, through the ledger. Returns how the leg ends when it ends here. */
  async *#call(): AsyncGenerator<HarnessEvent, 'waiting' | 'cancelled' | undefined> {
    const { agent, effects, holdsLease, runId, prompt } = this.#context;
    const { life, effects: world } = this.#parts;
    const input = this.#input;
    const toolName = agent.name === 'repeatable' ? 'get_rate' : 'pay';
    const known = input.kind === 'continue' ? input.calls.get(callRef) : undefined;
    if (known?.state === 'left' || known?.state === 'ended') return undefined;
    const allowed = input.kind === 'prompt' ? undefined : input.answers.get(callRef);
    if (agent.name === 'approved' && !isAllowed(allowed)) {
      yield { type: 'permission_request', ref: callRef, toolName, toolInput: callInput };
      return 'waiting';
    }
    const call = { ref: callRef, toolName, input: callInput, touches: 'outside' } as const;
    if ((await effects.begin(call)).kind !== 'begun' || !holdsLease()) return 'cancelled';
    await life.pass(prompt, 'in the call, before its effect');
    world.carryOut(`${runId}.${callRef}`);
    await life.pass(prompt, 'in the call, after its effect');
    await effects.end(callRef, { ok: true, output: 'done' });
    return undefined;
  }

  async answer(): Promise<boolean> {
    return false;
  }
  async cancel(): Promise<void> {}
  async yield(): Promise<void> {
    this.#isAskedToYield = true;
  }
  async kill(): Promise<void> {}
}

function isAllowed(answer: Answer | undefined): boolean {
  return answer?.kind === 'permission' && answer.allow;
}
