import { AgentFileError, readAgentFile } from '../../confined-fs/agent-file.ts';
import type { Agent } from '../../domain/agent.ts';
import { type Json, type JsonObject, isObject } from '../../domain/json.ts';
import type { ValueSchema } from '../../domain/run/value-schema.ts';
import type { AgentProblem, Harness } from '../../ports/harness.ts';
import { type YamlSource, describeProblems, parseYaml } from '../yaml-source.ts';
import { compileSchema } from './compile-schema.ts';
import { jsonFault } from './json-fault.ts';
import { SchemaWalk } from './keywords.ts';
import { loadLinearPatterns } from './linear-patterns.ts';

const bytesMax = 32 * 1024;

export interface DeclaredSchemas {
  readonly input_schema?: string | JsonObject | undefined;
  readonly output_schema?: string | JsonObject | undefined;
}

export interface ReadSchemas {
  readonly folder: string;
  readonly framework: string;
  /** Whether the framework's agents can return a value (D-568). */
  readonly output: Harness['output'];
  /** `agent.yaml`, for the places of problems. */
  readonly source: YamlSource;
}

export type SchemasOfAgent =
  | { readonly ok: true; readonly schemas: Pick<Agent, 'input' | 'output'> }
  | { readonly ok: false; readonly reason: string };

type Key = keyof DeclaredSchemas;

/** Reads the schemas of an agent: the mappings in `agent.yaml`, or the files that it names (D-560). */
export async function readSchemas(
  declared: DeclaredSchemas,
  request: ReadSchemas,
): Promise<SchemasOfAgent> {
  const input = await readSchema('input_schema', declared.input_schema, request);
  const output = await readSchema('output_schema', declared.output_schema, request);
  const reasons = [input, output].flatMap((each) => (each?.ok === false ? [each.reason] : []));
  if (reasons.length > 0) return { ok: false, reason: reasons.join('; ') };
  const schemas = {
    ...(input?.ok === true && { input: input.schema }),
    ...(output?.ok === true && { output: output.schema }),
  };
  return { ok: true, schemas };
}

type ReadSchema =
  | { readonly ok: true; readonly schema: ValueSchema }
  | { readonly ok: false; readonly reason: string };

async function readSchema(
  key: Key,
  given: string | JsonObject | undefined,
  request: ReadSchemas,
): Promise<ReadSchema | undefined> {
  if (given === undefined) return undefined;
  const at = (message: string): ReadSchema => ({
    ok: false,
    reason: describeProblems(request.source, [{ path: [key], message }]),
  });
  if (key === 'output_schema' && (request.output ?? 'none') === 'none') {
    const { framework } = request;
    return at(`cannot hold: ${framework} agents cannot give an output, so no run would keep it`);
  }
  if (typeof given !== 'string') {
    return schemaOf(key, given, { source: request.source, under: [key] });
  }
  const text = await readAgentFile(request.folder, given);
  if (text === undefined) return at("names a file that does not exist in the agent's folder");
  if (Buffer.byteLength(text) > bytesMax) return at(tooLarge);
  const { source, value } = readJson(given, text);
  if (!isObject(value)) return at('names a file that is not a JSON object');
  return schemaOf(key, value, { source, under: [] });
}

const tooLarge = `is larger than ${bytesMax / 1024} KiB`;

interface Place {
  readonly source: YamlSource;
  readonly under: readonly PropertyKey[];
}

async function schemaOf(key: Key, root: JsonObject, { source, under }: Place): Promise<ReadSchema> {
  const fail = (problems: readonly AgentProblem[]): ReadSchema => {
    const placed = problems.map(({ path, message }) => ({ path: [...under, ...path], message }));
    return { ok: false, reason: describeProblems(source, placed) };
  };
  if (Buffer.byteLength(JSON.stringify(root)) > bytesMax) {
    return fail([{ path: [], message: tooLarge }]);
  }
  const { problems, patterns } = new SchemaWalk(root);
  if (key === 'input_schema') problems.push(...inputProblems(root));
  if (problems.length > 0) return fail(problems);
  const engine = patterns.length === 0 ? undefined : await loadLinearPatterns();
  const wrong = patterns.flatMap(({ pattern, path }) => {
    const problem = engine?.problemOf(pattern);
    return problem === undefined ? [] : [{ path, message: `the pattern ${problem}` }];
  });
  if (wrong.length > 0) return fail(wrong);
  const schema = key === 'input_schema' ? closed(root) : root;
  const compilePattern = engine && ((pattern: string) => engine.compile(pattern));
  return { ok: true, schema: { schema, check: await compileSchema({ schema, compilePattern }) } };
}

/** D-562: what the service has to know of an input. */
function inputProblems({ type, properties, required }: JsonObject): readonly AgentProblem[] {
  const problems: AgentProblem[] = [];
  if (type !== 'object') {
    problems.push({ path: ['type'], message: 'must be object: an input is a JSON object' });
  }
  const members = isObject(properties) ? properties : {};
  const namesFiles = Array.isArray(required) && required.includes('files');
  if (Object.hasOwn(members, 'files') || namesFiles) {
    const path = namesFiles ? ['required'] : ['properties', 'files'];
    const message = 'must not name files: session_files is what adds files to the input';
    problems.push({ path, message });
  }
  if (Object.hasOwn(members, 'prompt') && !isText(members['prompt'])) {
    const message = 'must have the type string: other parts of the service read it as one';
    problems.push({ path: ['properties', 'prompt'], message });
  }
  return problems;
}

function isText(schema: Json | undefined): boolean {
  return isObject(schema) && schema['type'] === 'string';
}

const inPlace = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/** D-562: fields that a request may not have are refused, here as everywhere, unless the schema says otherwise. */
function closed(root: JsonObject): JsonObject {
  if ('additionalProperties' in root || 'unevaluatedProperties' in root) return root;
  // Members may be declared in a part, too.
  const hasParts = inPlace.some((keyword) => keyword in root);
  return { ...root, [hasParts ? 'unevaluatedProperties' : 'additionalProperties']: false };
}

/** JSON is YAML, whose parser knows the places. */
function readJson(name: string, text: string): { source: YamlSource; value: Json } {
  try {
    const value = JSON.parse(text) as Json;
    return { source: parseYaml(name, text), value };
  } catch (error) {
    if (error instanceof AgentFileError) throw error;
    const { line, column } = jsonFault(text);
    throw new AgentFileError(`${name}:${line}:${column}: is not JSON`, { cause: error });
  }
}
