import type { ToolCallUpdate } from '@agentclientprotocol/sdk';
import type {
  BeginOutcome,
  CallToDecide,
  DecideOutcome,
  Effects,
  NewCall,
} from '../../ports/harness.ts';
import type { EventQueue } from '../event-queue.ts';
import { ReportedCalls, isHarmless } from './reported-calls.ts';
import type { ReportedCall } from './state.ts';

export interface TurnCallsParts {
  readonly effects: Effects;
  readonly queue: EventQueue;
  readonly redact: (text: string) => string;
  readonly before: readonly ReportedCall[];
  /** Called when a leg that resumes has to know more than the last recovery point says. */
  readonly onProgress: () => void;
}

/**
 * The calls of a turn that have an effect: which of them run, as far as the agent tells, and the entries in the ledger
 * of those that the agent asked permission for. Calls that it makes without asking pass no ledger.
 */
export class TurnCalls {
  readonly #parts: TurnCallsParts;
  readonly #reported: ReportedCalls;
  readonly #running = new Set<string>();
  /** Names in the ledger of calls that have begun, by the agent's id. */
  readonly #begun = new Map<string, string>();
  #ended: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(parts: TurnCallsParts) {
    this.#parts = parts;
    this.#reported = new ReportedCalls(parts.before);
  }

  get all(): readonly ReportedCall[] {
    return this.#reported.all;
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Takes a report of the agent about one of its calls. */
  report(call: ToolCallUpdate): void {
    const { toolCallId: id, kind, status } = call;
    const isOver = status === 'completed' || status === 'failed';
    // The agent stopped it as it was told to; how much was done by then is unknown.
    const isStopped = this.#isStopping && status === 'failed' && this.#running.has(id);
    this.#take(isStopped ? { ...call, status: 'in_progress' } : call);
    if (isStopped) return;
    if (isOver) this.#end(call);
    else if (status === 'in_progress' && !isHarmless(kind ?? 'other')) this.#running.add(id);
  }

  /** The agent waits for a person under this name: the call does not run. */
  wait(call: ToolCallUpdate, ref: string): void {
    this.#running.delete(call.toolCallId);
    this.#take(call, ref);
  }

  /** Writes the intent of a call (D-80), or its denial. */
  async begin(call: ToolCallUpdate, intent: Omit<NewCall, 'touches'>): Promise<BeginOutcome> {
    const { toolCallId: id } = call;
    const { queue, effects } = this.#parts;
    const isFree = isHarmless(intent.toolName);
    if (!isFree) {
      this.#running.add(id);
      this.#take(call, intent.ref);
    }
    await queue.handled();
    const begun = await effects.begin({ ...intent, toolCallId: id, touches: 'both', isFree });
    if (begun.kind === 'begun') this.#begun.set(id, intent.ref);
    else this.#running.delete(id);
    return begun;
  }

  /** The verdict of the rules about a call, before it begins or after the agent has made it without asking. */
  async decide(call: CallToDecide): Promise<DecideOutcome> {
    const { queue, effects } = this.#parts;
    await queue.handled();
    return effects.decide(call);
  }

  /** Has the end of the turn wait for it. */
  settle(check: Promise<void>): void {
    this.#ended = Promise.all([this.#ended, check]).then(() => undefined);
  }

  /**
   * The turn refused a call that the agent had asked for: the call does not run, whatever the agent reported before.
   */
  withdraw(call: ToolCallUpdate): void {
    if (this.#begun.has(call.toolCallId)) return;
    this.#running.delete(call.toolCallId);
    this.#take({ ...call, status: 'failed' });
  }

  /** The turn is being stopped: calls that fail from now on were cut off. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Resolves when the results of all calls that are over are in the ledger. */
  settled(): Promise<void> {
    return this.#ended;
  }

  #take(call: ToolCallUpdate, ref?: string): void {
    const { redact, onProgress } = this.#parts;
    if (this.#reported.take(call, redact, ref)) onProgress();
  }

  #end({ toolCallId: id, status, title }: ToolCallUpdate): void {
    const { queue, effects, redact } = this.#parts;
    this.#running.delete(id);
    const ref = this.#begun.get(id);
    if (ref === undefined) return;
    this.#begun.delete(id);
    const result = { ok: status === 'completed', output: redact(title ?? '') };
    this.#ended = this.#ended.then(() => queue.handled()).then(() => effects.end(ref, result));
  }
}
