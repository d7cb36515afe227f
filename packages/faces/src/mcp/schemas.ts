import { type JsonObject, isObject } from '../json.ts';

/** The schemas of an agent, as `GET /v1/agents` shows them. */
export interface AgentSchemas {
  readonly input_schema?: JsonObject | undefined;
  readonly output_schema?: JsonObject | undefined;
}

/** The input of agents whose server names no schema. */
const words: JsonObject = {
  type: 'object',
  properties: { prompt: { type: 'string' } },
  required: ['prompt'],
};

/** The name of the argument that continues a session: another one where the agent's own input has a `session_id`. */
export function sessionArgument({ input_schema: schema = words }: AgentSchemas): string {
  return 'session_id' in propertiesOf(schema) ? 'convoke_session_id' : 'session_id';
}

/** The input of an agent as the arguments of its tool, with the session that it continues. */
export function toolInputSchema(agent: AgentSchemas): JsonObject {
  const { input_schema: schema = words } = agent;
  // Files are uploaded to a session, which a tool has no place for.
  const { files: _, ...members } = propertiesOf(schema);
  const { prompt } = members;
  const described = isObject(prompt) && prompt['description'] === undefined;
  const properties = {
    ...members,
    ...(described && { prompt: { ...prompt, description: 'What the agent is asked to do.' } }),
    [sessionArgument(agent)]: {
      type: 'string',
      description: 'The session_id of an earlier result, to continue that conversation.',
    },
  };
  return { ...schema, type: 'object', properties };
}

const text = { type: 'string' };

/** The schema of a result is that of an object. */
export interface ToolOutputSchema extends JsonObject {
  readonly type: 'object';
}

/** The result of a call. The output is absent while there is none, so nothing requires it. */
export function toolOutputSchema({ output_schema: schema }: AgentSchemas): ToolOutputSchema {
  const { $defs, $schema: _, ...output } = schema ?? {};
  return {
    type: 'object',
    properties: {
      session_id: text,
      run_id: text,
      status: text,
      text,
      ...(schema !== undefined && { output }),
    },
    required: ['session_id', 'run_id', 'status', 'text'],
    // References name definitions at the root (D-560).
    ...($defs !== undefined && { $defs }),
  };
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {};
}
