import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { agentNamePattern } from '@convoke/contract';
import { z } from 'zod';
import { AgentFileError, readAgentFile } from '../confined-fs/agent-file.ts';
import type { Agent, BrokenAgent } from '../domain/agent.ts';
import type { Json } from '../domain/json.ts';
import { warningsOf } from '../domain/rules/warnings.ts';
import { type Prices, isRefused, noPrices } from '../domain/usage/prices.ts';
import type { DeclaredAgent, FrameworkKeys, Harness } from '../ports/harness.ts';
import { errorCode } from '../runtime/error-code.ts';
import { type AgentYaml, agentSchema, toDeclaredAgent } from './agent-schema.ts';
import { connectionProblems } from './connection-problems.ts';
import { contentDigest } from './content-digest.ts';
import { type AgentProblem, problemsOf } from './problems.ts';
import { literalSecrets, missingVariables } from './secret-references.ts';
import { type YamlSource, describeProblems, parseYaml } from './yaml-source.ts';

export type ReadAgent =
  | {
      readonly ok: true;
      readonly agent: Agent;
      /** Warnings for the author of an agent that can run. */
      readonly warnings: readonly string[];
    }
  | ({
      readonly ok: false;
      /** A later attempt may succeed although no file has changed. */
      readonly isTransient?: true;
    } & Omit<BrokenAgent, 'folder'>);

export interface ReadAgentFolder {
  readonly folder: string;
  readonly name: string;
  /** By framework. */
  readonly harnesses: AgentHarnesses;
  /** When it is read; now when absent. */
  readonly now?: number;
  /** Needed to tell what a run costs; none when absent. */
  readonly prices?: Prices | undefined;
  /** How the folder was read last time. */
  readonly before?: ReadAgent | undefined;
}

export type AgentHarnesses = ReadonlyMap<
  string,
  Pick<
    Harness,
    | 'read'
    | 'prepare'
    | 'hasFixedToolInput'
    | 'onLoss'
    | 'keepsCutText'
    | 'reportsCost'
    | 'output'
    | 'callsAgents'
    | 'hasSleepTool'
  >
>;

/** Reads one agent folder. The reason for a refusal names the place in `agent.yaml` and what to do. */
export async function readAgentFolder(request: ReadAgentFolder): Promise<ReadAgent> {
  try {
    return await readFolder(request);
  } catch (error) {
    return unreadable(error instanceof AgentFileError ? error.message : systemReason(error));
  }
}

async function readFolder(request: ReadAgentFolder): Promise<ReadAgent> {
  const text = await readAgentFile(request.folder, 'agent.yaml');
  const isNamed = agentNamePattern.test(request.name);
  if (text === undefined) return isNamed ? withoutFile(request) : unreadable(badName);
  const source = sourceOf(text);
  if ('reason' in source) return { ok: false, ...source };
  if (!isNamed) return { ok: false, reason: badName, ...readableParts(source) };
  const parsed = agentSchema.safeParse(source.value);
  if (!parsed.success) {
    const { data = {} } = identity.safeParse(source.value);
    const problems = problemsOf(parsed.error, agentSchema);
    return faulty(source, [...problems, ...identityProblems(data, request)]);
  }

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
  const schemas = await schemasOf(yaml, { ...request, source, harness });
  if (!schemas.ok) return { ok: false, reason: schemas.reason, ...readableParts(source) };
  const around = {
    ...request,
    instructions,
    schemas: schemas.schemas,
    onLoss: harness.onLoss ?? 'resume',
  };
  const { declared, ...agent } = toDeclaredAgent({ ...yaml, mcp_servers: servers }, around);
  const read = harness.read({ ...agent, declared });
  if (!read.ok) return faulty(source, read.problems);
  const { name, folder } = agent;
  const prepared = await harness.prepare?.({ name, folder, settings: read.settings });
  if (prepared?.ok === false) {
    const { problem: reason, isTransient } = prepared;
    return { ok: false, reason, ...(isTransient && { isTransient }), ...readableParts(source) };
  }
  return {
    ok: true,
    agent: {
      ...agent,
      settings: read.settings,
      facts: {
        tools: declared.tools,
        skills: await skillNames(agent),
        missingVariables: missingVariables(referringTexts(declared)),
        loadedAt: request.now ?? Date.now(),
      },
      hasFixedToolInput: harness.hasFixedToolInput ?? false,
      digest: digestOf({
        ...agent,
        ...unheeded,
        declared,
        code: prepared?.digest,
        files: await contentDigest(folder),
      }),
      reportsCost: harness.reportsCost ?? false,
    },
    warnings: [...warningsAbout({ ...agent, declared }), ...(prepared?.warnings ?? [])],
  };
}

function warningsAbout({ name, rules, declared }: DeclaredAgent): readonly string[] {
  return [
    ...literalSecrets(declared.env).map(
      (of) =>
        `env.${of} looks like a secret: move it out of agent.yaml and refer to it, as in "\${env:${of}}"`,
    ),
    ...warningsOf(rules, { agents: [{ name, tools: declared.tools }] }).map(
      ({ rule, message }) => `the rule ${rule}: ${message}`,
    ),
  ];
}

/** The texts of `agent.yaml` in which references to secrets count. */
function referringTexts({ env, mcpServers }: FrameworkKeys): readonly string[] {
  const ofServers = Object.values(mcpServers).flatMap((server) => [
    ...textsIn(server['env']),
    ...textsIn(server['headers']),
  ]);
  return [...Object.values(env), ...ofServers];
}

/** The servers are read by their framework; here they may be anything. */
function textsIn(member: Json | undefined): readonly string[] {
  if (typeof member !== 'object' || member === null) return [];
  return Object.values<unknown>(member).filter((value) => typeof value === 'string');
}

const badName =
  'the folder\'s name must be 1 to 64 characters of a-z, 0-9 and "-": rename the folder';

/**
 * A folder that has no file is shown to every tenant, because its name is all there is to see (D-262). One that lost
 * its file stays with the tenants that saw it.
 */
function withoutFile({ before }: ReadAgentFolder): ReadAgent {
  const reason =
    'agent.yaml is missing: write it, or move the folder away if it is not meant to be an agent';
  const tenants =
    before === undefined ? agentSchema.shape.tenants.parse(undefined) : tenantsIn(before);
  return { ok: false, reason, ...(tenants === undefined ? {} : { tenants }) };
}

function tenantsIn(read: ReadAgent): BrokenAgent['tenants'] {
  return read.ok ? read.agent.tenants : read.tenants;
}

/** Fields that do not change the agent's work: its place, its callers and its description (D-574). */
const unheeded = { folder: '', tenants: undefined, publish: undefined, description: '' };

/** The checks of schemas are functions, which JSON leaves out. */
function digestOf(declared: object): string {
  return createHash('sha256').update(JSON.stringify(declared)).digest('hex');
}

type Schemas =
  | { readonly ok: true; readonly schemas: Pick<Agent, 'input' | 'output'> }
  | { readonly ok: false; readonly reason: string };

/** Most agents have no schema: what reads one is loaded by the first that has. */
async function schemasOf(
  yaml: AgentYaml,
  {
    folder,
    source,
    harness,
  }: Pick<ReadAgentFolder, 'folder'> & { source: YamlSource; harness: Pick<Harness, 'output'> },
): Promise<Schemas> {
  const { input_schema, output_schema, framework } = yaml;
  if (input_schema === undefined && output_schema === undefined) return { ok: true, schemas: {} };
  const { readSchemas } = await import('./schemas/read-schemas.ts');
  const { output } = harness;
  return readSchemas({ input_schema, output_schema }, { folder, framework, output, source });
}

/** What can be judged of a file that has other mistakes, too: its author gets to know all of them. */
const identity = z.object({
  name: z.string().optional().catch(undefined),
  framework: z.string().max(200).optional().catch(undefined),
});

function identityProblems(
  yaml: Partial<z.infer<typeof identity>>,
  { name, harnesses }: ReadAgentFolder,
): AgentProblem[] {
  const problems: AgentProblem[] = [];
  if (yaml.name !== undefined && yaml.name !== name) {
    problems.push({ path: ['name'], message: `must be the folder's name, "${name}"` });
  }
  if (yaml.framework !== undefined && !harnesses.has(yaml.framework)) {
    const available = [...harnesses.keys()].sort().join(', ');
    const message = `${yaml.framework} is not available in this build (available: ${available})`;
    problems.push({ path: ['framework'], message });
  }
  return problems;
}

function findProblems(yaml: AgentYaml, request: ReadAgentFolder): readonly AgentProblem[] {
  const { harnesses, prices = noPrices } = request;
  const problems = identityProblems(yaml, request);
  problems.push(...connectionProblems(yaml), ...calledProblems(yaml, request));
  problems.push(...sleepProblems(yaml, request));
  if (yaml.script !== undefined && yaml.framework !== 'scripted') {
    problems.push({ path: ['script'], message: 'belongs to the framework "scripted" only' });
  }
  if (yaml.entry !== undefined && yaml.framework !== 'code') {
    problems.push({ path: ['entry'], message: 'belongs to the framework "code" only' });
  }
  const { framework, model, limits, recovery } = yaml;
  if (recovery.cut_message !== undefined && harnesses.get(framework)?.keepsCutText !== true) {
    const message = `has no effect with ${framework}, which cannot continue a message that was cut`;
    problems.push({ path: ['recovery', 'cut_message'], message });
  }
  const reportsCost = harnesses.get(framework)?.reportsCost ?? false;
  if (
    limits.max_cost !== undefined &&
    model !== undefined &&
    isRefused(prices, { model, reportsCost })
  ) {
    const message = `needs a price for ${model} in the file that CONVOKE_PRICES names, or "unpriced: allow" there`;
    problems.push({ path: ['limits', 'max_cost'], message });
  }
  return problems;
}

/** Other frameworks have no tool with which a model could sleep. */
function sleepProblems(
  { sleep, framework }: AgentYaml,
  { harnesses }: ReadAgentFolder,
): AgentProblem[] {
  if (!sleep || harnesses.get(framework)?.hasSleepTool === true) return [];
  const message =
    framework === 'code'
      ? 'has no effect: the function of the agent calls ctx.sleep'
      : `has no effect: ${framework} agents cannot sleep`;
  return [{ path: ['sleep'], message }];
}

/** One that does not exist is a warning: folders come in any order. */
function calledProblems(
  { agents, framework }: AgentYaml,
  { name, harnesses }: ReadAgentFolder,
): AgentProblem[] {
  if (agents.length > 0 && harnesses.get(framework)?.callsAgents !== true) {
    return [{ path: ['agents'], message: `has no effect: ${framework} agents cannot call agents` }];
  }
  return agents.flatMap((called, at): AgentProblem[] => {
    const path = ['agents', at];
    if (called === name)
      return [{ path, message: 'is the agent itself, which cannot call itself' }];
    return agents.indexOf(called) === at ? [] : [{ path, message: `names ${called} again` }];
  });
}

/** Warnings about agents that the agent may call and that have no folder. */
export function missingCalls(
  { calls = [] }: Pick<Agent, 'calls'>,
  folders: { has(name: string): boolean },
): readonly string[] {
  return calls
    .filter((called) => !folders.has(called))
    .map((called) => `agents names ${called}, which does not exist: a call of it is refused`);
}

function faulty(source: YamlSource, problems: readonly AgentProblem[]): ReadAgent {
  return { ok: false, reason: describeProblems(source, problems), ...readableParts(source) };
}

/** A broken agent is shown to those tenants that would see it if it were whole. */
const readable = z.object({
  framework: z.string().max(200).optional().catch(undefined),
  tenants: agentSchema.shape.tenants,
});

function readableParts({ value, text }: YamlSource): Pick<BrokenAgent, 'tenants' | 'framework'> {
  const parsed = readable.safeParse(value);
  if (!parsed.success) return tenantsOfText(text);
  const { framework, tenants } = parsed.data;
  return { tenants, ...(framework === undefined ? {} : { framework }) };
}

/** A file that does not mention tenants would be an agent for all of them (D-258). */
function tenantsOfText(text: string): Pick<BrokenAgent, 'tenants'> {
  return text.includes('tenants') ? {} : { tenants: agentSchema.shape.tenants.parse(undefined) };
}

function sourceOf(text: string): YamlSource | Omit<BrokenAgent, 'folder'> {
  try {
    return parseYaml('agent.yaml', text);
  } catch (error) {
    if (!(error instanceof AgentFileError)) throw error;
    return { reason: error.message, ...tenantsOfText(text) };
  }
}

const skillsMax = 200;

async function skillNames({ folder, skills }: Pick<Agent, 'folder' | 'skills'>): Promise<string[]> {
  if (skills === 'none') return [];
  if (skills !== 'all') return [...skills].sort();
  const entries = await readdir(join(folder, 'skills'), { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return names.sort().slice(0, skillsMax);
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
