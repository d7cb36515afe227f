import { agentNamePattern } from '@convoke/contract';
import { type Document, LineCounter, isMap, isNode, isScalar, parseDocument } from 'yaml';
import { z } from 'zod';
import { AgentFileError, readAgentFile } from '../confined-fs/agent-file.ts';
import type { Agent } from '../domain/agent.ts';
import type { Harness } from '../ports/harness.ts';
import { errorCode } from '../runtime/error-code.ts';
import { type AgentYaml, agentSchema, toDeclaredAgent } from './agent-schema.ts';
import { type AgentProblem, problemsOf } from './problems.ts';
import { literalSecrets } from './secret-references.ts';

const problemsShown = 5;
const aliasesMax = 100;

export type ReadAgent =
  | {
      readonly ok: true;
      readonly agent: Agent;
      /** Names in `env` whose values look like secrets. */
      readonly literalSecrets: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

export interface ReadAgentFolder {
  readonly folder: string;
  readonly name: string;
  /** By framework. */
  readonly harnesses: AgentHarnesses;
}

export type AgentHarnesses = ReadonlyMap<string, Pick<Harness, 'read' | 'hasFixedToolInput'>>;

/** Reads one agent folder. The reason for a refusal names the place in `agent.yaml` and what to do. */
export async function readAgentFolder(request: ReadAgentFolder): Promise<ReadAgent> {
  if (!agentNamePattern.test(request.name)) {
    return unreadable('the folder\'s name must be 1 to 64 characters of a-z, 0-9 and "-"');
  }
  try {
    return await readFolder(request);
  } catch (error) {
    return unreadable(error instanceof AgentFileError ? error.message : systemReason(error));
  }
}

async function readFolder(request: ReadAgentFolder): Promise<ReadAgent> {
  const text = await readAgentFile(request.folder, 'agent.yaml');
  if (text === undefined) return unreadable('agent.yaml is missing');
  const source = parseYaml(text);
  const parsed = agentSchema.safeParse(source.value);
  if (!parsed.success) return faulty(source, problemsOf(parsed.error, agentSchema));

  const yaml = parsed.data;
  const harness = request.harnesses.get(yaml.framework);
  const problems = findProblems(yaml, request);
  if (problems.length > 0 || harness === undefined) return faulty(source, problems);

  const instructions = await readAgentFile(request.folder, yaml.instructions ?? 'instructions.md');
  if (instructions === undefined && yaml.instructions !== undefined) {
    return faulty(source, [
      { path: ['instructions'], message: "names a file that does not exist in the agent's folder" },
    ]);
  }
  const servers = yaml.mcp_servers ?? (await readMcpJson(request.folder));
  const around = { ...request, instructions };
  const { declared, ...agent } = toDeclaredAgent({ ...yaml, mcp_servers: servers }, around);
  const read = harness.read({ ...agent, declared });
  if (!read.ok) return faulty(source, read.problems);
  return {
    ok: true,
    agent: {
      ...agent,
      settings: read.settings,
      hasFixedToolInput: harness.hasFixedToolInput ?? false,
    },
    literalSecrets: literalSecrets(declared.env),
  };
}

function findProblems(
  yaml: AgentYaml,
  { name, harnesses }: ReadAgentFolder,
): readonly AgentProblem[] {
  const problems: AgentProblem[] = [];
  if (yaml.name !== undefined && yaml.name !== name) {
    problems.push({ path: ['name'], message: `must be the folder's name, "${name}"` });
  }
  if (!harnesses.has(yaml.framework)) {
    const available = [...harnesses.keys()].sort().join(', ');
    const message = `${yaml.framework} is not available in this build (available: ${available})`;
    problems.push({ path: ['framework'], message });
  }
  if (yaml.script !== undefined && yaml.framework !== 'scripted') {
    problems.push({ path: ['script'], message: 'belongs to the framework "scripted" only' });
  }
  return problems;
}

interface Source {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly value: unknown;
}

function parseYaml(text: string): Source {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new AgentFileError(`agent.yaml:${line}:${col}: ${error.message}`);
  }
  if (document.contents === null) throw new AgentFileError('agent.yaml is empty');
  try {
    // A few aliases can expand to exponentially more than the size of the file.
    return { document, lines, value: document.toJS({ maxAliasCount: aliasesMax }) };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'cannot be read';
    throw new AgentFileError(`agent.yaml: ${message}`, { cause: error });
  }
}

function faulty(source: Source, problems: readonly AgentProblem[]): ReadAgent {
  const shown = problems.slice(0, problemsShown).map((problem) => located(source, problem));
  const more = problems.length - shown.length;
  return unreadable(more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; '));
}

function located({ document, lines }: Source, { path, message }: AgentProblem): string {
  const offset = offsetOf(document, path);
  const position = offset === undefined ? null : lines.linePos(offset);
  const where = position === null ? 'agent.yaml' : `agent.yaml:${position.line}:${position.col}`;
  return path.length === 0 ? `${where}: ${message}` : `${where}: ${dotted(path)} ${message}`;
}

/** Returns the offset of the deepest existing part of `path`; for an unknown key that is the key itself. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const parent: unknown =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    const pair = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === last)
      : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}

function dotted(path: readonly PropertyKey[]): string {
  const [first, ...rest] = path;
  const tail = rest.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return `${String(first)}${tail.join('')}`;
}

const mcpJson = z.strictObject({ mcpServers: agentSchema.shape.mcp_servers });

async function readMcpJson(folder: string): Promise<AgentYaml['mcp_servers']> {
  const text = await readAgentFile(folder, 'mcp.json');
  if (text === undefined) return undefined;
  try {
    return mcpJson.parse(JSON.parse(text)).mcpServers;
  } catch (error) {
    throw new AgentFileError('mcp.json must have the form {"mcpServers": {"<name>": {…}}}', {
      cause: error,
    });
  }
}

function unreadable(reason: string): ReadAgent {
  return { ok: false, reason };
}

/** Returns the code only: messages of the file system contain absolute paths. */
function systemReason(error: unknown): string {
  const code = errorCode(error);
  return `the folder cannot be read (${code ?? (error instanceof Error ? error.name : 'unknown')})`;
}
