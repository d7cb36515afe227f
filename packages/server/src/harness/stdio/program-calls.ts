import type { Json } from '../../domain/json.ts';
import type { CallResult } from '../../domain/run/tool-call.ts';
import type { HarnessEvent, LegContext, LegInput, NewCall } from '../../ports/harness.ts';
import { type CallMessage, callBegunMessage, callRefusedMessage } from './protocol.ts';

/** Characters of all results of a run together: every later leg gets all of them with its start message. */
const resultsMax = 32 * 1024 * 1024;

/** How the framework of a program shows its calls. */
export interface CallsOfProgram {
  /** The events that readers see of a call: none where only the program can say what it did. */
  eventOf(message: CallMessage): HarnessEvent | undefined;
  /** Whether the events and requests of a call have its ref as its id. */
  readonly asksByCallId: boolean;
}

interface EndedCall {
  readonly ref: string;
  readonly result: CallResult;
  readonly point?: Json;
}

interface ProgramCallsParts {
  readonly context: LegContext;
  readonly program: CallsOfProgram;
  readonly send: (message: object) => void;
}

/**
 * The calls that the program of a leg announces: the ledger knows what has begun and ended, and the rules what may
 * begin.
 */
export class ProgramCalls {
  readonly #parts: ProgramCallsParts;
  /** Calls that did not begin. */
  readonly #refused = new Set<string>();
  /** Characters of the run's results. */
  #results: number;

  constructor(parts: ProgramCallsParts, input: LegInput) {
    this.#parts = parts;
    this.#results = resultsIn(input);
  }

  /** Tells the program whether it may carry the call out. Returns the problem if the call is invalid. */
  async *begin(call: NewCall): AsyncGenerator<HarnessEvent, string | undefined> {
    const { context, program, send } = this.#parts;
    const { ref } = call;
    yield* this.#show({ type: 'call_begin', call });
    const named = { ...call, ...(program.asksByCallId && { toolCallId: ref }) };
    const begun = await context.effects.begin(named);
    switch (begun.kind) {
      case 'begun':
        this.#refused.delete(ref);
        send(callBegunMessage(ref, context.runId));
        return undefined;
      case 'denied':
        // Readers see the denial as the result of the call.
        yield* this.#show({ type: 'call_end', ref, result: denialOf(begun.reason) });
        this.#refused.add(ref);
        send(callRefusedMessage(ref, begun));
        return undefined;
      case 'ask':
        this.#refused.add(ref);
        send(callRefusedMessage(ref, begun));
        return undefined;
      case 'left':
        // After the end of the leg the program is killed; it must not start the call.
        if (context.signal.aborted || !context.holdsLease()) return undefined;
        return `The call ${ref} has already begun; a continued leg finds it in input.calls.`;
      default:
        return begun satisfies never;
    }
  }

  async *end({ ref, result, point }: EndedCall): AsyncGenerator<HarnessEvent, string | undefined> {
    if (this.#refused.has(ref)) {
      // The program gave it up before it heard that it had not begun.
      if (point !== undefined) yield { type: 'checkpoint', state: point, recovery: true };
      return undefined;
    }
    yield* this.#show({ type: 'call_end', ref, result });
    await this.#parts.context.effects.end(ref, result, point);
    this.#results += result.output.length;
    return this.#results > resultsMax ? tooManyResults : undefined;
  }

  *#show(message: CallMessage): Generator<HarnessEvent, void> {
    const shown = this.#parts.program.eventOf(message);
    if (shown !== undefined) yield shown;
  }
}

/** As the kit stores the error of a step. */
function denialOf(reason: string): CallResult {
  return { ok: false, output: JSON.stringify({ error: { name: 'Denied', message: reason } }) };
}

const tooManyResults = `The results of this run's calls are longer than ${resultsMax / 1024 / 1024} Mi characters together: keep large ones in files.`;

function resultsIn(input: LegInput): number {
  let characters = 0;
  if (input.kind !== 'continue') return characters;
  for (const call of input.calls.values()) {
    if (call.state === 'ended') characters += call.output.length;
  }
  return characters;
}
