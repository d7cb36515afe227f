import { limits } from '@convoke/contract';
import type { Agent } from '../agent.ts';
import { type Json, type JsonObject, isObject } from '../json.ts';
import { previewOf, runInputPreview, shownName } from '../preview.ts';
import { type Refused, type Ruling, accepted, refused } from '../refusal.ts';
import type { Issue } from './value-schema.ts';

export interface RunInput {
  readonly fileIds: readonly string[];
}

export interface InputOf {
  readonly agent: Pick<Agent, 'name' | 'input'>;
  readonly takesFiles: boolean;
}

/**
 * D-22: an agent without an `input_schema` takes `prompt`, and `files` where the session does. D-562: otherwise the
 * schema decides about every member but `files`.
 */
export function readRunInput(input: JsonObject, { agent, takesFiles }: InputOf): Ruling<RunInput> {
  const { files = [], ...members } = input;
  const problem =
    agent.input === undefined ? promptProblem(members, agent) : fitProblem(members, agent);
  const misfit =
    problem ??
    (takesFiles || input['files'] === undefined ? undefined : undeclared('files', agent));
  if (misfit !== undefined) return misfit;
  if (!isTextList(files) || files.length > limits.runFilesMax) {
    return refused(
      'invalid_body',
      `input.files must be an array of at most ${limits.runFilesMax} file ids`,
    );
  }
  return accepted({ fileIds: files });
}

function promptProblem(members: JsonObject, agent: InputOf['agent']): Refused | undefined {
  const other = Object.keys(members).find((member) => member !== 'prompt');
  if (other !== undefined) return undeclared(other, agent);
  if (typeof members['prompt'] === 'string' && members['prompt'] !== '') return undefined;
  return refused('invalid_body', 'input.prompt must be a non-empty string');
}

function undeclared(member: string, { name }: InputOf['agent']): Refused {
  return refused(
    'unknown_field',
    `input.${shownName(member)} is not a member that ${name} declares`,
  );
}

/** D-564: says where the input does not fit, with pointers into the body of the request. */
function fitProblem(members: JsonObject, { name, input }: InputOf['agent']): Refused | undefined {
  const found = input?.check(members) ?? [];
  if (found.length === 0) return undefined;
  const issues = found
    .slice(0, limits.inputIssuesMax)
    .map(({ pointer, message }): Issue => ({ pointer: `/input${pointer}`, message }));
  const text = issues.map(({ pointer, message }) => `${pointer} ${message}`).join('; ');
  const message = `input does not fit the input_schema of ${name}: ${text}`;
  return { ...refused('invalid_body', message), issues };
}

function isTextList(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The prompt of an input that was accepted; empty where it has none. */
export function acceptedPrompt({ prompt }: JsonObject): string {
  return typeof prompt === 'string' ? prompt : '';
}

/** The input of a run as one line or message for people: the prompt, else the input as JSON. */
export function shownInput(input: JsonObject): string {
  const prompt = acceptedPrompt(input);
  if (prompt !== '') return prompt;
  const members = otherMembers(input);
  return Object.keys(members).length === 0 ? '' : JSON.stringify(members);
}

/** The same in one line for lists, where it is never JSON if some member tells what the run is about (D-971). */
export function previewOfInput(input: JsonObject): string {
  const told = acceptedPrompt(input) === '' ? runInputPreview(otherMembers(input)) : undefined;
  return told ?? previewOf(shownInput(input));
}

/** As `shownInput`, of a stored run. */
export function shownInputOf({ input }: { readonly input: string }): string {
  return shownInput(JSON.parse(input) as JsonObject);
}

/**
 * D-563: the input in words, for agents that read nothing else: the prompt, then the other members as a block of JSON.
 */
export function promptOf(input: JsonObject): string {
  const prompt = acceptedPrompt(input);
  const members = otherMembers(input);
  if (Object.keys(members).length === 0) return prompt;
  const block = `\`\`\`json\n${JSON.stringify(members, undefined, 2)}\n\`\`\``;
  return prompt === '' ? block : `${prompt}\n\n${block}`;
}

/** The fields of an input other than the prompt and the files, which the service places in the session folder. */
export function otherMembers({
  prompt: _prompt,
  files: _files,
  ...members
}: JsonObject): JsonObject {
  return members;
}

/** The JSON Schema of the input that `readRunInput` accepts. */
export function inputSchemaOf({
  agent,
  takesFiles,
}: {
  readonly agent: Pick<Agent, 'input'>;
  readonly takesFiles: boolean;
}): JsonObject {
  const files = { type: 'array', items: { type: 'string' }, maxItems: limits.runFilesMax };
  const added: JsonObject = takesFiles ? { files } : {};
  const { schema } = agent.input ?? {};
  if (schema !== undefined) {
    const declared = isObject(schema['properties']) ? schema['properties'] : {};
    return takesFiles ? { ...schema, properties: { ...declared, ...added } } : schema;
  }
  return {
    type: 'object',
    properties: { prompt: { type: 'string', minLength: 1 }, ...added },
    required: ['prompt'],
    additionalProperties: false,
  };
}
