import { callAfterEdit } from '../edits.ts';
import { Misuse } from '../failures.ts';
import { type Json, type JsonObject, jsonCopy } from '../json.ts';
import type { Leg } from '../leg.ts';
import type { CalledRun, KitMessage } from '../lines.ts';
import { digestOf } from '../names.ts';
import type { Steps } from '../steps.ts';
import { type Duration, endOfWait } from './durations.ts';

export interface CallOptions {
  /** Such as `1h`, or a `Date`: the called run is cancelled then. Without one it may take any time. */
  readonly timeout?: Duration;
  /** Lowers what the called run, and all that it calls, may use. `maxCost` is in millionths of the currency. */
  readonly budget?: { readonly maxTokens?: number; readonly maxCost?: number };
}

type WaitMessage = Extract<KitMessage, { type: 'wait' }>;

interface AgentCall {
  readonly agent: string;
  readonly input: JsonObject;
  readonly options: CallOptions | undefined;
}

/** The result of a called run. One that fails, is cancelled or is not allowed is a value, too. */
export type Called =
  | {
      readonly ok: true;
      readonly text: string;
      /** Set if the text is only the beginning of the answer. */
      readonly isCut?: true;
      /** The output of the agent, if it is more than a text. */
      readonly output?: Json;
      readonly runId: string;
      readonly sessionId: string;
    }
  | {
      readonly ok: false;
      /** `cancelled`, `timed_out`, `refused`, `denied`, or why the called run failed. */
      readonly code: string;
      readonly message: string;
      /** Absent if no run was started. */
      readonly runId?: string;
      readonly sessionId?: string;
    };

/**
 * Calls another agent. It is known by agent and input, as an approval is: an input that differs would be another run in
 * every leg, so it is refused (D-924).
 */
export async function call(
  { leg, steps }: { readonly leg: Leg; readonly steps: Steps },
  { agent, input, options: { timeout, budget } = {} }: AgentCall,
): Promise<Called> {
  if (typeof agent !== 'string' || !/^[a-z0-9-]{1,64}$/.test(agent)) {
    throw new Misuse(
      `The name of an agent must be 1 to 64 characters of a-z, 0-9 and "-", and ${JSON.stringify(agent)} is not.`,
    );
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new Misuse(`call "${agent}": the input must be an object, such as { prompt: 'Go.' }`);
  }
  const end = timeout === undefined ? {} : endOfWait(`call "${agent}"`, timeout);
  const given = jsonCopy(input, 'the input of a call') as JsonObject;
  const ceiling = budget && ceilingOf(agent, budget);
  const ref = steps.refOf('call', `call ${agent} ${digestOf(given)}`);
  const known = leg.replay.takeCall(ref);
  if (known === undefined && leg.replay.leftCalls.length > 0) await mayCall(leg, agent);
  if (known?.state !== 'settled' || known.kind !== 'run') {
    const budgeted = ceiling === undefined ? end : { ...end, budget: ceiling };
    return leg.raise({ type: 'wait', ref, kind: 'run', name: agent, input: given, ...budgeted });
  }
  await leg.deliverWait(ref, known.number);
  return calledOf(known);
}

const ceilings: Readonly<Record<string, 'max_tokens' | 'max_cost'>> = {
  maxTokens: 'max_tokens',
  maxCost: 'max_cost',
};

/** JavaScript checks no names: a ceiling that is misspelt would be none. */
function ceilingOf(
  agent: string,
  budget: NonNullable<CallOptions['budget']>,
): NonNullable<WaitMessage['budget']> {
  const given = Object.entries(budget).filter(([, amount]) => amount !== undefined);
  return Object.fromEntries(
    given.map(([name, amount]: [string, unknown]) => {
      const ceiling = Object.hasOwn(ceilings, name) ? ceilings[name] : undefined;
      if (ceiling === undefined) {
        throw new Misuse(
          `call "${agent}": a budget has maxTokens and maxCost, and not ${JSON.stringify(name)}`,
        );
      }
      if (!Number.isSafeInteger(amount) || Number(amount) < 1) {
        throw new Misuse(`call "${agent}": ${name} must be a whole number, at least 1`);
      }
      return [ceiling, amount];
    }),
  );
}

/** Waits until every stored result has reached the function: by then it has asked for the calls of earlier legs. */
async function mayCall(leg: Leg, agent: string): Promise<void> {
  // The leg does not end while it waits.
  leg.stepStarted();
  try {
    await leg.quiet();
    leg.guard();
    const left = leg.replay.leftCalls;
    if (left.length > 0) await callAfterEdit(leg, left, agent);
  } finally {
    leg.stepEnded();
  }
}

function calledOf(called: CalledRun): Called {
  const { run_id: runId, session_id: sessionId } = called;
  if (!called.ok) {
    const { code, message } = called;
    return {
      ok: false,
      code,
      message,
      ...(runId !== undefined && { runId }),
      ...(sessionId !== undefined && { sessionId }),
    };
  }
  const { text, is_cut, output } = called;
  return {
    ok: true,
    text,
    ...(is_cut === true && { isCut: true }),
    ...(output !== undefined && { output }),
    runId: called.run_id,
    sessionId: called.session_id,
  };
}
