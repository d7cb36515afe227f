// An agent as a tool of an assistant: its arguments and its result (D-613, D-560).
import { describe, expect, test } from 'vitest';
import { type JsonObject, agentTool, sessionArgument } from '../src/index.ts';

describe('a tool', () => {
  const agent = { name: 'payer', description: 'Pays\u202e.' };
  const sessionId = {
    type: 'string',
    description: 'The session_id of an earlier result, to continue that conversation.',
  };
  const described = { type: 'string', description: 'What the agent is asked to do.' };
  const inputOf = (input_schema?: JsonObject) => agentTool({ ...agent, input_schema }).inputSchema;
  const outputOf = (output_schema?: JsonObject) =>
    agentTool({ ...agent, output_schema }).outputSchema;

  test('of an agent without schemas takes words', () => {
    expect(agentTool(agent)).toMatchObject({ name: 'payer', description: 'Pays⟨U+202E⟩.' });
    expect(inputOf()).toEqual({
      type: 'object',
      properties: { prompt: described, session_id: sessionId },
      required: ['prompt'],
    });
  });

  test.each<readonly [string, JsonObject, JsonObject]>([
    ['none', {}, { session_id: sessionId }],
    ['properties that are none', { properties: [1] }, { session_id: sessionId }],
    [
      'a prompt that is described',
      { properties: { prompt: { type: 'string', description: 'What?' } } },
      { prompt: { type: 'string', description: 'What?' }, session_id: sessionId },
    ],
    [
      'a prompt that is anything',
      { properties: { prompt: true } },
      { prompt: true, session_id: sessionId },
    ],
    [
      'a prompt that is nothing',
      { properties: { prompt: null } },
      { prompt: null, session_id: sessionId },
    ],
    [
      'files, for which a tool has no place',
      { properties: { files: {}, sum: { type: 'number' } } },
      { sum: { type: 'number' }, session_id: sessionId },
    ],
    [
      'a session_id of its own',
      { properties: { session_id: { type: 'number' } } },
      { session_id: { type: 'number' }, convoke_session_id: sessionId },
    ],
  ])('takes the input of its agent, with the session: %s', (_, schema, properties) => {
    expect(inputOf({ ...schema, title: 'In' })).toEqual({
      title: 'In',
      type: 'object',
      properties,
    });
    const name = 'convoke_session_id' in properties ? 'convoke_session_id' : 'session_id';
    expect(sessionArgument({ input_schema: schema })).toBe(name);
  });

  test('returns the output of its agent, with definitions where references find them', () => {
    const plain = { session_id: {}, run_id: {}, status: {}, text: {} };
    expect(Object.keys(outputOf()['properties'] ?? {})).toEqual(Object.keys(plain));
    expect(outputOf()).not.toHaveProperty('$defs');
    const sum = { type: 'number' };
    const schema = {
      $schema: 'x',
      type: 'object',
      properties: { sum: { $ref: '#/$defs/sum' } },
      $defs: { sum },
    };
    expect(outputOf(schema)).toMatchObject({
      type: 'object',
      properties: { ...plain, output: { type: 'object', properties: schema.properties } },
      required: ['session_id', 'run_id', 'status', 'text'],
      $defs: { sum },
    });
    expect(JSON.stringify(outputOf(schema))).not.toContain('$schema');
  });
});
