import { afterAll } from 'vitest';
import { type Plan, type Step, adapterSuite } from '../adapter-suite.ts';
import { AiSdkPlace, type Dialect, dialects } from './agent.ts';

// The shared guarantees over every wire format: differences between providers must not be visible.
const names: readonly Dialect[] = ['openai-compatible', 'openai', 'anthropic', 'google'];
const place = await AiSdkPlace.open();
afterAll(() => place.close());

for (const dialect of names) {
  const planOf = (script: string, approvalRequiredTools: readonly string[] = []): Plan => ({
    agent: place.agent({ dialect, approvalRequiredTools }),
    prompt: `Please do this. @@ ${script}`,
  });
  adapterSuite(`ai-sdk (${dialects[dialect].model})`, {
    open: async () => ({ harness: place.harness(), account: place.account }),
    planFor: (steps, gatedTools) => planOf(scriptOf(steps), gatedTools),
    memory: {
      first: planOf('say My favourite animal is the zebra'),
      second: planOf('probe favourite animal is the z+ebra'),
      expected: 'favourite animal is the zebra: yes',
    },
  });
}

/** A call ends a turn of the model; the steps after it are its answer to the result. */
function scriptOf(steps: readonly Step[]): string {
  const parts = steps.map((step) => scriptStep(step));
  return parts.reduce((script, part, index) => {
    const before = steps[index - 1];
    return `${script}${before !== undefined && 'say' in before ? ' && call list_files {}' : ''} ;; ${part}`;
  });
}

function scriptStep(step: Step): string {
  if ('say' in step) return `say ${step.say.trim()}`;
  if ('write' in step) return `call write_file ${JSON.stringify(step.write)}`;
  if ('sayAnswer' in step) return 'last';
  if ('fail' in step) return `fail 500 ${step.fail}`;
  if ('work' in step) return 'say working && hang';
  const { question, options } = step.ask;
  return `call ask_user ${JSON.stringify({ question, options: options.map((label) => ({ label })) })}`;
}
