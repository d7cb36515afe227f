import type { Json, JsonObject } from '../../../src/domain/json.ts';
import { agentOf } from '../../support/agent-folders.ts';
import type { Plan, Step } from '../adapter-suite.ts';

/** A prompt that holds the answers of the model server. */
export function promptOf(script: string): string {
  return `Please do this. @@ ${script}`;
}

/** The input of Claude's tool that writes a file. */
export function writeInput(file: string, content: string): JsonObject {
  return { file_path: `/workspace/${file}`, content };
}

/**
 * The same plans for the real SDK and for its recording: a recording is found by its test and checked by its prompts.
 */
export function claudePlans(settings: Readonly<Record<string, Json>>) {
  function planOf(script: string, approvalRequiredTools: readonly string[] = []): Plan {
    const agent = agentOf({ framework: 'claude', folder: '/usr', approvalRequiredTools, settings });
    return { agent, prompt: promptOf(script) };
  }
  return {
    planOf,
    planFor: (steps: readonly Step[], gatedTools: readonly string[]) =>
      planOf(scriptOf(steps), gatedTools.length === 0 ? [] : ['Write']),
    memory: {
      first: planOf('say My favourite animal is the zebra'),
      second: planOf('probe favourite animal is the z+ebra'),
      expected: 'favourite animal is the zebra: yes',
    },
    shows: ({ path, text }: { readonly path: string; readonly text: string }) =>
      writeInput(path, text),
  };
}

/** A call ends a turn of the model; the next turn answers its result. */
function scriptOf(steps: readonly Step[]): string {
  return steps
    .map((step, index) => {
      const isFollowed = 'say' in step && index < steps.length - 1;
      return `${scriptStep(step)}${isFollowed ? ' && call Glob {"pattern":"*"}' : ''}`;
    })
    .join(' ;; ');
}

function scriptStep(step: Step): string {
  if ('say' in step) return `say ${step.say.trim()}`;
  if ('write' in step) {
    return `call Write ${JSON.stringify(writeInput(step.write.path, step.write.text))}`;
  }
  if ('sayAnswer' in step) return 'last';
  if ('fail' in step) return `fail 400 ${step.fail}`;
  if ('work' in step) return 'say working && hang';
  const { question, options } = step.ask;
  const choices = options.map((label) => ({ label, description: label }));
  const questions = [{ question, header: 'Choice', options: choices, multiSelect: false }];
  return `call AskUserQuestion ${JSON.stringify({ questions })}`;
}
