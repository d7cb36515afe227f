import { limits } from '@convoke/contract';
import type { Agent } from '../agent.ts';
import { type Json, measureJson } from '../json.ts';
import type { RunOutcome } from './run.ts';

/** Many parsers of clients take no more levels than this. */
const depthMax = 128;
const issuesShown = 5;

/**
 * The outcome of a leg that has completed with this output: the one place where it is measured, and checked against the
 * `output_schema` of the agent that executes the leg (D-567). Its harness has redacted it, as it does with events.
 */
export function completedWith(agent: Agent, output: Json | undefined): RunOutcome {
  if (output === undefined) {
    if (agent.output === undefined) return { status: 'completed' };
    return invalid(
      `The agent ${agent.name} ended without the output that its output_schema describes.`,
    );
  }
  const problem = sizeProblem(output);
  if (problem !== undefined) return invalid(`The output of the agent ${agent.name} ${problem}.`);
  const issues = agent.output?.check(output) ?? [];
  if (issues.length === 0) return { status: 'completed', output };
  const shown = issues
    .slice(0, issuesShown)
    .map(({ pointer, message }) => `${pointer || '/'} ${message}`);
  return invalid(
    `The output of the agent ${agent.name} does not fit its output_schema: ${shown.join('; ')}.`,
  );
}

function sizeProblem(output: Json): string | undefined {
  const bytesMax = limits.runOutputMaxBytes;
  const measured = measureJson(output, { charactersMax: bytesMax * 4, depthMax });
  if (measured === 'too deep') return `has more than ${depthMax} levels`;
  const isLarge = measured === 'too long' || Buffer.byteLength(JSON.stringify(output)) > bytesMax;
  return isLarge ? `is larger than ${bytesMax / 1024} KiB: keep large results in files` : undefined;
}

function invalid(message: string): RunOutcome {
  return { status: 'failed', code: 'output_invalid', message };
}
