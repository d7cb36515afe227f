import { describe, expect, test } from 'vitest';
import { readAgentFolder } from '../../src/agents/agent-folder.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { readRunInput } from '../../src/domain/run/run-input.ts';
import type { Harness } from '../../src/ports/harness.ts';
import { declaringHarness, temporaryFolder, writeFiles } from '../support/agent-folders.ts';

const harnesses = new Map<string, Pick<Harness, 'read' | 'output'>>([
  ['stdio', { ...declaringHarness, output: 'native' }],
  ['acp', declaringHarness],
]);

async function read(yaml: string, files: Record<string, string> = {}) {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'agent.yaml': yaml, ...files });
  return readAgentFolder({ folder, name: 'triage', harnesses });
}

async function reasonOf(yaml: string, files: Record<string, string> = {}) {
  const result = await read(yaml, files);
  return result.ok ? 'accepted' : result.reason;
}

/** The agent with these schemas, in `agent.yaml` itself. */
async function agentWith(schemas: { input?: JsonObject; output?: JsonObject }) {
  const { input, output } = schemas;
  const yaml = { framework: 'stdio', input_schema: input, output_schema: output };
  const result = await read(JSON.stringify(yaml));
  if (!result.ok) throw new Error(result.reason);
  return result.agent;
}

const ticket: JsonObject = {
  type: 'object',
  properties: { ticket: { type: 'integer', minimum: 1 }, prompt: { type: 'string' } },
  required: ['ticket'],
};

async function issuesOf(schema: JsonObject, input: JsonObject) {
  const agent = await agentWith({ input: schema });
  const ruling = readRunInput(input, { agent, takesFiles: false });
  return ruling.ok ? [] : (ruling.issues ?? []).map((each) => `${each.pointer} ${each.message}`);
}

async function fits(schema: JsonObject, value: Json) {
  const { output } = await agentWith({ output: schema });
  return output?.check(value).length === 0;
}

describe('the schemas of an agent (D-560)', () => {
  test('stand in agent.yaml, or in a JSON file of the folder', async () => {
    const mapped = await agentWith({ input: ticket });
    const named = await read('framework: stdio\ninput_schema: in.json', {
      'in.json': JSON.stringify(ticket),
    });
    expect(named).toMatchObject({ ok: true, agent: { input: { schema: mapped.input?.schema } } });
  });

  test.each<[string, string, string]>([
    [
      'an unknown keyword',
      '{typ: object}',
      'agent.yaml:2:16: input_schema.typ is an unknown keyword, which would check nothing; did you mean "type"?',
    ],
    [
      'a reference to elsewhere',
      '{type: object, properties: {a: {$ref: "https://example.com/a"}}}',
      'agent.yaml:2:47: input_schema.properties.a.$ref must be #/$defs/<name>',
    ],
    [
      'a reference to nothing',
      '{type: object, properties: {a: {$ref: "#/$defs/b"}}}',
      '$ref names b, which $defs does not have',
    ],
    ['a name for itself', '{type: object, $id: a}', '$id is an unknown keyword'],
    ['a root of another type', '{type: array}', 'input_schema.type must be object'],
    ['a root without a type', '{}', 'must be object'],
    [
      'files of its own',
      '{type: object, properties: {files: {type: array}}}',
      'properties.files must not name files',
    ],
    [
      'a prompt that is no text',
      '{type: object, properties: {prompt: {type: integer}}}',
      'properties.prompt must have the type string',
    ],
    [
      'a pattern with look-around',
      '{type: object, properties: {a: {pattern: "^(?=a)b"}}}',
      'properties.a.pattern the pattern cannot be checked in linear time',
    ],
    [
      'a pattern with a back-reference',
      '{type: object, properties: {a: {pattern: "(a)\\\\1"}}}',
      'linear time',
    ],
    [
      'a pattern that is none',
      '{type: object, patternProperties: {"(": {}}}',
      'patternProperties.( the pattern is not a regular expression',
    ],
    [
      'a bound that is no number',
      '{type: object, maxProperties: many}',
      'maxProperties must be a whole number',
    ],
    [
      'a type that is none',
      '{type: object, properties: {a: {type: text}}}',
      'properties.a.type must be one of object, array',
    ],
    [
      'a required that is no list',
      '{type: object, required: a}',
      'required must be a list of names',
    ],
    [
      'a reference in a circle',
      '{type: object, $defs: {a: {anyOf: [{$ref: "#/$defs/a"}]}}, $ref: "#/$defs/a"}',
      '$defs.a leads by $ref back to itself',
    ],
    ['something that is no schema', '7', 'must be a JSON Schema, or the path of a JSON file'],
  ])('are refused with place and reason: %s', async (_, schema, reason) => {
    expect(await reasonOf(`framework: stdio\ninput_schema: ${schema}`)).toContain(reason);
  });

  test('in a file are refused with the place in that file', async () => {
    const yaml = 'framework: stdio\noutput_schema: out.json';
    const misspelt = '{\n\t"type": "object",\n\t"requird": ["a"]\n}';
    expect(await reasonOf(yaml, { 'out.json': misspelt })).toContain(
      'out.json:3:2: requird is an unknown keyword',
    );
    const broken = [
      ['{\n  "type": }', '2:11'],
      ['{"type": "object",}', '1:19'],
      ['{\n"a": {"b": tru}\n}', '2:15'],
      ['{"a": 1', '1:8'],
      ["{'a': 1}", '1:2'],
      ['', '1:1'],
    ];
    for (const [text = '', place] of broken) {
      expect(await reasonOf(yaml, { 'out.json': text })).toBe(`out.json:${place}: is not JSON`);
    }
    expect(await reasonOf(yaml, { 'out.json': '[]' })).toContain('is not a JSON object');
    expect(await reasonOf(yaml)).toContain(
      "agent.yaml:2:1: output_schema names a file that does not exist in the agent's folder",
    );
    const large = JSON.stringify({ description: 'x'.repeat(32 * 1024) });
    expect(await reasonOf(yaml, { 'out.json': large })).toContain('is larger than 32 KiB');
  });

  test('are refused beyond 32 levels', async () => {
    const nested = (levels: number): JsonObject =>
      levels === 1 ? {} : { items: nested(levels - 1) };
    await expect(agentWith({ output: nested(32) })).resolves.toBeDefined();
    await expect(agentWith({ output: nested(33) })).rejects.toThrow('deeper than 32 levels');
  });

  test('of an output are refused where the framework cannot give one (D-568)', async () => {
    expect(await reasonOf('framework: acp\noutput_schema: {type: object}')).toContain(
      'agent.yaml:2:1: output_schema cannot hold: acp agents cannot give an output',
    );
  });

  test('say in notes what they like', async () => {
    const notes = { format: 'email', 'x-order': 1, title: 'T', examples: ['a'] };
    expect(await fits({ type: 'string', ...notes }, 'no address')).toBe(true);
  });
});

describe('the input of an agent with a schema (D-562)', () => {
  test('is refused with a pointer for every fault (D-564)', async () => {
    expect(await issuesOf(ticket, { ticket: '7', colour: 'red' })).toEqual(
      expect.arrayContaining(['/input/ticket must be integer', '/input/colour is not declared']),
    );
    expect(await issuesOf(ticket, {})).toEqual(['/input/ticket is missing']);
    const tags = { type: 'object', properties: { tags: { type: 'array', maxItems: 1 } } };
    expect(await issuesOf(tags, { tags: ['a', 'b'] })).toEqual([
      '/input/tags must not have more than 1 items',
    ]);
    expect(await issuesOf(ticket, { ticket: 7 })).toEqual([]);
    expect(await issuesOf(ticket, { ticket: 0, prompt: 1 })).toEqual(
      expect.arrayContaining(['/input/ticket must be >= 1', '/input/prompt must be string']),
    );
  });

  test('is closed unless the schema says otherwise, also where members stand in a part', async () => {
    const parts = { type: 'object', allOf: [{ properties: { a: { type: 'integer' } } }] };
    expect(await issuesOf(parts, { a: 1 })).toEqual([]);
    expect(await issuesOf(parts, { a: 1, b: 2 })).toEqual(['/input/b is not declared']);
    const open = { type: 'object', additionalProperties: true };
    expect(await issuesOf(open, { b: 2 })).toEqual([]);
    expect((await agentWith({ input: ticket })).input?.schema).toMatchObject({
      additionalProperties: false,
    });
  });

  test('names members as JSON pointers do, and no more than 20', async () => {
    expect(await issuesOf({ type: 'object' }, { 'a/b~c': 1 })).toEqual([
      '/input/a~1b~0c is not declared',
    ]);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}`, n]));
    expect(await issuesOf({ type: 'object' }, many)).toHaveLength(20);
  });

  test('that is large is told its first fault only', async () => {
    const list = { type: 'object', properties: { all: { items: { type: 'integer' } } } };
    expect(await issuesOf(list, { all: Array.from({ length: 10_000 }, () => 'x') })).toEqual([
      '/input/all/0 must be integer',
    ]);
  });

  test('has no members that every object inherits', async () => {
    const schema = { type: 'object', required: ['toString'], additionalProperties: true };
    expect(await issuesOf(schema, {})).toEqual(['/input/toString is missing']);
  });

  test('leaves files to the service', async () => {
    const agent = await agentWith({ input: ticket });
    const input = { ticket: 7, files: ['f1'] };
    expect(readRunInput(input, { agent, takesFiles: true })).toEqual({
      ok: true,
      value: { fileIds: ['f1'] },
    });
    expect(readRunInput(input, { agent, takesFiles: false })).toMatchObject({
      code: 'unknown_field',
    });
  });
});

describe('a check of a value (D-561)', () => {
  const values: Json[] = [null, true, 0, 1.5, 'ab', 'aa', [1, 1], [1, 2], {}, { a: 1, b: 'x' }];

  test.each<[string, JsonObject, string]>([
    ['pattern', { pattern: '^(a+)+$' }, 'null true 0 1.5 "aa" [1,1] [1,2] {} {"a":1,"b":"x"}'],
    [
      'a pattern beside another one',
      { type: 'string', allOf: [{ pattern: '^a' }, { pattern: 'b$' }] },
      '"ab"',
    ],
    ['uniqueItems', { type: 'array', uniqueItems: true }, '[1,2]'],
    ['a reference', { $ref: '#/$defs/n', $defs: { n: { type: 'number' } } }, '0 1.5'],
    ['one of two', { oneOf: [{ type: 'string' }, { const: 'ab' }, { type: 'null' }] }, 'null "aa"'],
    ['dependent members', { type: 'object', dependentRequired: { a: ['c'] } }, '{}'],
    // Read from text: an object in a program must not have a member of the name `then`.
    ['if and then', JSON.parse('{"if":{"type":"array"},"then":{"minItems":3},"else":false}'), ''],
  ])('knows %s', async (_, schema, fitting) => {
    const { output } = await agentWith({ output: schema });
    const found = values.filter((value) => output?.check(value).length === 0);
    expect(found.map((value) => JSON.stringify(value)).join(' ')).toBe(fitting);
  });

  test('takes decimal numbers for what they say, and large ones for whole', async () => {
    const cents = { type: 'number', multipleOf: 0.01 };
    for (const price of [0.07, 19.99, 1_000_000.01, 1e300]) {
      expect([price, await fits(cents, price)]).toEqual([price, true]);
    }
    for (const price of [0.075, 19.999]) expect(await fits(cents, price)).toBe(false);
  });

  test('compares items by their value: the order of members and the kind of number do not count', async () => {
    const unique = { type: 'array', uniqueItems: true };
    expect(
      await fits(unique, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toBe(false);
    expect(await fits(unique, [1, '1', [1], { a: 1 }])).toBe(true);
  });
});

describe('the version of an agent (D-574)', () => {
  const files = {
    'in.json': JSON.stringify(ticket),
    'workspace/a.txt': 'a',
    'skills/s/SKILL.md': 's',
  };
  const yaml = 'framework: stdio\ninput_schema: in.json';
  const digestOf = async (text: string, others: Record<string, string>) => {
    const result = await read(text, others);
    return result.ok ? result.agent.digest : result.reason;
  };

  test('is the same for equal folders, wherever they are, whoever may call it and however it is described', async () => {
    const digest = await digestOf(yaml, files);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await digestOf(yaml, files)).toBe(digest);
    const around = `${yaml}\ndescription: Sorts\npublish: [a2a]\ntenants: {default: disabled}`;
    expect(await digestOf(around, files)).toBe(digest);
  });

  test.each([
    ['a key of agent.yaml', `${yaml}\nmodel: big`, {}],
    ['a schema', yaml, { 'in.json': JSON.stringify({ type: 'object' }) }],
    ['an output schema', `${yaml}\noutput_schema: {type: object}`, {}],
    ['the instructions', yaml, { 'instructions.md': 'Be kind.' }],
    [
      'the MCP servers',
      yaml,
      { 'mcp.json': '{"mcpServers": {"a": {"url": "http://127.0.0.1:1"}}}' },
    ],
    ['a seed file', yaml, { 'workspace/a.txt': 'b' }],
    ['a skill', yaml, { 'skills/s/SKILL.md': 't' }],
  ])('is another one after a change of %s', async (_, text, changed) => {
    expect(await digestOf(text, { ...files, ...changed })).not.toBe(await digestOf(yaml, files));
  });
});
