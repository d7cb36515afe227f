import { jsonSchema } from 'ai';
import { z } from 'zod';
import { isObject } from '../../../domain/json.ts';
import type { CalledAgent } from '../../../ports/harness.ts';
import { resultOfCall } from '../../called-result.ts';
import { failed, shortened, succeeded } from './agent-tool.ts';
import type { WaitTool } from './wait-tool.ts';

const prompt = z.strictObject({
  prompt: z
    .string()
    .min(1)
    .describe('What the agent shall do; it knows nothing of this conversation'),
});

/** A tool for each agent that the agent may call, with what that agent says of itself (D-925). */
export function callTools(agents: readonly CalledAgent[]): readonly WaitTool[] {
  return agents.map(({ name, description, input: taken }) => ({
    name: `call_${name}`,
    description: `Has the agent ${name} work, and waits for its answer. ${description}`.trim(),
    inputSchema: taken === undefined ? prompt : jsonSchema(taken.schema),
    request: (ref, input) =>
      isObject(input) ? { type: 'wait', ref, kind: 'run', name, input } : undefined,
    resultOf: (wait) => {
      const result = resultOfCall(wait);
      if (!result.ok) return failed(`${result.code}: ${result.message}`);
      return succeeded(
        shortened(result.output === undefined ? result.text : JSON.stringify(result.output)),
      );
    },
  }));
}
