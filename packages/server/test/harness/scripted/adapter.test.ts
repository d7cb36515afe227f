import type { Json } from '../../../src/domain/json.ts';
import { scriptedHarness } from '../../../src/harness/scripted/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { type Plan, type Step, adapterSuite } from '../adapter-suite.ts';

adapterSuite('scripted', {
  open: async () => ({ harness: scriptedHarness({ clock: systemClock }) }),
  planFor: (steps, gatedTools) => planOf(steps.map(scriptStep), gatedTools),
  // A script remembers nothing but the number of the run.
  memory: {
    first: planOf([{ say: 'hello' }], []),
    second: planOf([{ say: 'this is run {{run_number}}' }], []),
    expected: 'this is run 2',
  },
});

function planOf(script: Json, approvalRequiredTools: readonly string[]): Plan {
  return { agent: agentOf({ script, approvalRequiredTools }), prompt: 'go' };
}

function scriptStep(step: Step): Json {
  if ('say' in step) return { say: step.say };
  if ('write' in step) return { tool: { name: 'write_file', input: { ...step.write } } };
  if ('ask' in step) return { ask: step.ask };
  if ('sayAnswer' in step) return { say: '{{answer}}' };
  if ('fail' in step) return { fail: { message: step.fail } };
  return { repeat: { times: 1000, steps: [{ say: 'working ' }, { sleep_ms: 1000 }] } };
}
