import type { HarnessEvent, LegContext } from '../../ports/harness.ts';
import { type StepRequest, type StepResult, runStep } from './step.ts';

/** One step, of which the leg reports how long the model took and what it used, also where it was cut. */
export async function* runReportedStep(
  { agent, asked }: Pick<LegContext, 'agent' | 'asked'>,
  request: StepRequest,
): AsyncGenerator<HarnessEvent, StepResult> {
  const began = performance.now();
  let step: StepResult | undefined;
  try {
    step = yield* runStep(request);
    return step;
  } finally {
    const seconds = (performance.now() - began) / 1000;
    const usage = step === undefined || step.isUsagePartial ? undefined : step.usage;
    asked?.({ model: agent.model ?? agent.framework, seconds, error: errorOf(step), usage });
  }
}

function errorOf(step: StepResult | undefined): string | undefined {
  if (step?.end.kind === 'finished') return undefined;
  return step?.end.kind === 'failed' ? 'model_error' : 'cancelled';
}
