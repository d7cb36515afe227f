import type { Clock } from '../../ports/clock.ts';
import type { Harness, Leg, LegContext, LegInput } from '../../ports/harness.ts';
import { CancelFlag } from './cancel-flag.ts';
import { runLeg } from './leg.ts';
import { type Script, readScript } from './script.ts';

/**
 * Agents whose behaviour is a list of steps in their `agent.yaml`: deterministic, in process, without an account. The
 * demo, the tests and the benchmarks use it.
 */
export function scriptedHarness({ clock }: { readonly clock: Clock }): Harness<Script> {
  return {
    framework: 'scripted',
    output: 'native',
    afterLoss: 'repeat',
    callsAgents: true,
    keepsCutText: true,
    // 2: a recovery point may lie inside a `say`.
    checkpointFormat: 2,
    read: readScript,
    start: (input, context) => startLeg({ input, context, clock }),
  };
}

interface StartLeg {
  readonly input: LegInput;
  readonly context: LegContext<Script>;
  readonly clock: Clock;
}

function startLeg({ input, context, clock }: StartLeg): Leg {
  const cancelFlag = new CancelFlag(context.signal);
  let isYielding = false;
  const cancel = async () => cancelFlag.request();
  return {
    [Symbol.asyncIterator]: () =>
      runLeg({ input, context, clock, cancelFlag, isYielding: () => isYielding }),
    // A leg that asks ends and parks its run, so answers always come with a resume leg.
    answer: async () => false,
    cancel,
    yield: async () => {
      isYielding = true;
    },
    kill: cancel,
  };
}
