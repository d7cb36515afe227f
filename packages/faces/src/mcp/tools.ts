import type { JsonObject } from '../json.ts';
import { printable } from '../printable.ts';

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

const field = { type: 'string' };
const outputSchema = {
  type: 'object',
  properties: { session_id: field, run_id: field, status: field, text: field },
  required: ['session_id', 'run_id', 'status', 'text'],
};
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
export function agentTool({
  name,
  description,
}: {
  readonly name: string;
  readonly description: string;
}): McpTool {
  return {
    name,
    description: printable(description),
    inputSchema: {
      type: 'object',
      properties: {
        prompt: { type: 'string', description: 'What the agent is asked to do.' },
        session_id: {
          type: 'string',
          description: 'The session_id of an earlier result, to continue that conversation.',
        },
      },
      required: ['prompt'],
    },
    outputSchema,
    annotations: { openWorldHint: true },
  };
}
