import type { Agent } from '../../domain/agent.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { LegEnd } from '../../ports/harness.ts';
import { askedOutput } from '../output-schema.ts';

/**
 * The tool with which Claude gives the output of an agent that has an `output_schema`. Its program adds the tool and
 * checks what it gets; the call changes nothing, so it passes neither the ledger nor the rules.
 */
export const outputToolName = 'StructuredOutput';

/** How often its program lets Claude try is its own bound: then there is no output, and the run fails for that. */
export const outputGivenUp = 'error_max_structured_output_retries';

/** The option of the SDK that asks for an output. */
export function outputOption({ output }: Pick<Agent, 'output'>): JsonObject {
  if (output === undefined) return {};
  const { schema } = askedOutput(output.schema);
  return { outputFormat: { type: 'json_schema', schema } };
}

/** `given`: the output in Claude's result. */
export function completedWithOutput(
  { output: declared }: Pick<Agent, 'output'>,
  given: Json | undefined,
): LegEnd {
  const completed = { type: 'end', outcome: 'completed' } as const;
  if (declared === undefined || given === undefined) return completed;
  const output = askedOutput(declared.schema).valueIn(given);
  return output === undefined ? completed : { ...completed, output };
}
