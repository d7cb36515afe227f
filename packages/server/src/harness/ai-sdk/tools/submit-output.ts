import { dynamicTool, jsonSchema } from 'ai';
import type { Agent } from '../../../domain/agent.ts';
import { askedOutput } from '../../output-schema.ts';

/** The tool with which an agent that has an `output_schema` submits its output (D-569). No other tool has this name. */
export const submitName = 'submit_output';

export const submitSentence = `When the work is done, call ${submitName} with the result. Only what you submit is the result, and it ends your work.`;

export function submitTool({ output }: Pick<Agent, 'output'>) {
  if (output === undefined) return undefined;
  return dynamicTool({
    description: 'Submits the result of your work.',
    // The SDK checks nothing: what does not fit is refused in the words of the service.
    inputSchema: jsonSchema(askedOutput(output.schema).schema),
  });
}
