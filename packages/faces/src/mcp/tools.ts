import type { JsonObject } from '../json.ts';
import { printable } from '../printable.ts';
import { type AgentSchemas, toolInputSchema, toolOutputSchema } from './schemas.ts';

export const waitTool = 'convoke_wait';
export const answerTool = 'convoke_answer';
export const cancelTool = 'convoke_cancel';

/** A tool as the Model Context Protocol lists it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly annotations?: JsonObject;
}

/** For the tools that serve every agent: the tool of the agent itself describes its output. */
const outputSchema = toolOutputSchema({ output_schema: {} });
const runId = { type: 'string', description: 'The run_id of an earlier result.' };
const ofRun = { type: 'object', properties: { run_id: runId }, required: ['run_id'] };

/** The tools beside the agents: none of them takes a decision on a permission (D-220). */
export const ownTools: readonly McpTool[] = [
  {
    name: waitTool,
    description: 'Waits for a run of an agent that has not ended, and returns its outcome.',
    inputSchema: ofRun,
    outputSchema,
    annotations: { readOnlyHint: true },
  },
  {
    name: answerTool,
    description:
      "Passes the user's answer to a question that an agent has asked. Ask the user first. It gives no permission.",
    inputSchema: {
      type: 'object',
      properties: { run_id: runId, answer: { type: 'string', description: 'What they answered.' } },
      required: ['run_id', 'answer'],
    },
    outputSchema,
  },
  {
    name: cancelTool,
    description: 'Ends a run that the user does not need any more.',
    inputSchema: ofRun,
    outputSchema,
    annotations: { destructiveHint: true, idempotentHint: true },
  },
];

/** The tool that starts runs of an agent. */
export function agentTool(
  agent: AgentSchemas & { readonly name: string; readonly description: string },
): McpTool {
  return {
    name: agent.name,
    description: printable(agent.description),
    inputSchema: toolInputSchema(agent),
    outputSchema: toolOutputSchema(agent),
    annotations: { openWorldHint: true },
  };
}
