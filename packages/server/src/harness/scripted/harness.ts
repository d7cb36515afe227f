import type { Clock } from '../../ports/clock.ts';
import type { Harness, HarnessEvent, Leg, LegContext, LegInput } from '../../ports/harness.ts';
import { runLeg } from './leg.ts';
import { type Script, readScript } from './script.ts';
import { CancelFlag } from './cancel-flag.ts';

/**
 * Agents whose behaviour is a list of steps in their `agent.yaml`: deterministic, in process, without
 * any account. The demo, the tests and the benchmarks stand on it.
 */
export function scriptedHarness({ clock }: { readonly clock: Clock }): Harness<Script> {
  return {
    framework: 'scripted',
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
  const stop = new CancelFlag();
  const end = async () => stop.request();
  return {
    [Symbol.asyncIterator]: () => untilDone({ input, context, clock, stop }),
    // A parked run has no leg, and a running one asks nothing: answers always come with a resume leg.
    answer: async () => false,
    cancel: end,
    kill: end,
  };
}

async function* untilDone(
  parts: StartLeg & { readonly stop: CancelFlag },
): AsyncGenerator<HarnessEvent, void> {
  const { signal } = parts.context;
  const stop = () => parts.stop.request();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    yield* runLeg(parts);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
