import { createHash } from 'node:crypto';
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
    .describe('The task for the agent, which does not see this conversation'),
});

/** A tool for each agent that the agent may call, with that agent's description (D-925). */
export function callTools(agents: readonly CalledAgent[]): readonly WaitTool[] {
  return agents.map(({ name, description, input: taken }) => ({
    name: toolName(name),
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

const wireNameMax = 64;

/** Providers refuse names of more than 64 characters. The same in every leg, whatever other agents there are. */
function toolName(agent: string): string {
  const name = `call_${agent}`;
  if (name.length <= wireNameMax) return name;
  const digest = createHash('sha256').update(agent).digest('hex').slice(0, 8);
  return `${name.slice(0, wireNameMax - digest.length - 1)}_${digest}`;
}
