import {
  type AgentToolOptions,
  agentToolSchema,
  callForModel,
  sleepForModel,
  sleepToolDescription,
  sleepToolSchema,
  waitingTool,
} from './wait-tools.ts';

/** A tool that waits, with a JSON schema, as the AI SDK and Mastra have it. */
export interface SchemaTool {
  readonly description: string;
  readonly inputSchema: never;
  readonly execute: (input: unknown, call: { readonly toolCallId: string }) => Promise<string>;
}

export function schemaTool(
  description: string,
  jsonSchema: object,
  execute: SchemaTool['execute'],
): SchemaTool {
  // As `jsonSchema` of the AI SDK has it.
  const schema = { [Symbol.for('vercel.ai.schema')]: true, jsonSchema, validate: undefined };
  return waitingTool({ description, inputSchema: schema as never, execute });
}

/** A tool with which the model calls another agent, and waits for its answer. It is a wait and not a step. */
export function agentTool(agent: string, options: AgentToolOptions): SchemaTool {
  return schemaTool(options.description, agentToolSchema, (input, { toolCallId: id }) =>
    callForModel({ id, input }, agent, options),
  );
}

/** A tool with which the model sleeps. */
export const sleepTool = schemaTool(
  sleepToolDescription,
  sleepToolSchema,
  (input, { toolCallId: id }) => sleepForModel({ id, input }),
);
