import {
  agentNamePattern,
  agentRules,
  connectionOwners,
  connectionServicePattern,
  limits,
} from '@convoke/contract';
import { z } from 'zod';
import { confinedPath } from '../confined-fs/path.ts';
import { microsOf } from '../domain/usage/money.ts';
import { readEgress } from '../domain/egress.ts';
import type { DeclaredLink } from '../domain/connections/link.ts';
import { type RecoveryPolicy, publications } from '../domain/agent.ts';
import { readRules } from '../domain/rules/rule.ts';
import type { DeclaredAgent, FrameworkKeys } from '../ports/harness.ts';

const listMax = 1000;
const connectionsMax = 20;
const calledMax = 100;

const path = z.string().transform((text, context) => {
  const inside = confinedPath(text);
  if (inside !== undefined) return inside;
  context.addIssue('must be a relative path inside the folder, without ".." or "\\"');
  return z.NEVER;
});
const egress = z
  .string()
  .max(260)
  .refine(
    (entry) => readEgress(entry) !== undefined,
    'must be a host, "*.example.com" or an IP address, each with or without ":port"',
  );
/** An amount of money; the agent has millionths. */
const amount = z.union([z.number(), z.string()]).transform((value, context) => {
  const micros = microsOf(String(value));
  if (micros !== undefined && micros > 0) return micros;
  context.addIssue('must be an amount such as 2.50, above 0, with at most 6 decimals');
  return z.NEVER;
});
/** D-560: the schema itself, or the file that has it. */
const valueSchema = z.union([path, z.record(z.string(), z.json())], {
  error: 'must be a JSON Schema, or the path of a JSON file in the folder',
});
/** How end users connect accounts of a service by a link (D-605). */
const endpoint = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(limits.connectionUrlMaxCharacters);
const declaredLink = z
  .strictObject({
    client_id: z.string().min(1).max(limits.connectionClientMaxCharacters).exactOptional(),
    client_secret: z
      .string()
      .regex(
        /^\$\{(env:\w+|file:\/[^}]+)\}$/,
        'must refer to an environment variable of the server or to a file, as in "${env:GITHUB_CLIENT_SECRET}"',
      )
      .exactOptional(),
    authorization_endpoint: endpoint.exactOptional(),
    token_endpoint: endpoint.exactOptional(),
    scope: z.string().min(1).max(limits.connectionScopeMaxCharacters).exactOptional(),
    issuer: endpoint.exactOptional(),
  })
  .superRefine((link, context) => {
    const need = (name: keyof typeof link, beside: keyof typeof link) => {
      if (link[beside] === undefined || link[name] !== undefined) return;
      context.addIssue({ code: 'custom', path: [name], message: `is needed beside ${beside}` });
    };
    need('token_endpoint', 'authorization_endpoint');
    need('authorization_endpoint', 'token_endpoint');
    need('authorization_endpoint', 'issuer');
    need('client_id', 'authorization_endpoint');
    need('client_id', 'client_secret');
  });
/** Services whose accounts the agent uses, with their owners (D-604). */
const declaredConnections = z
  .record(
    z.string().regex(connectionServicePattern, 'must be 1 to 64 characters of a-z, 0-9 and -'),
    z
      .strictObject({
        owner: z.enum(connectionOwners, `must be ${connectionOwners.join(' or ')}`),
        fallback: z.literal('tenant', 'must be tenant').exactOptional(),
        required: z.boolean().default(true),
        oauth: declaredLink.exactOptional(),
      })
      .refine(({ owner, oauth }) => oauth === undefined || owner === 'end_user', {
        path: ['oauth'],
        error: 'only means something for the owner end_user',
      })
      .refine(({ owner, fallback }) => fallback === undefined || owner === 'end_user', {
        path: ['fallback'],
        error: 'only means something for the owner end_user',
      }),
  )
  .refine((declared) => Object.keys(declared).length <= connectionsMax, {
    error: `must name at most ${connectionsMax} services`,
  });
const glob = z.string().min(1).max(200);
const tenantIds = z.array(z.string().min(1).max(64)).max(listMax);

/** Every key of an `agent.yaml`. Each default is written here and nowhere else. */
export const agentSchema = z.strictObject({
  schema: z.literal(1, 'must be 1, the only version').default(1),
  name: z
    .string()
    .regex(agentNamePattern, 'must be 1 to 64 characters of a-z, 0-9 and -')
    .optional(),
  description: z.string().max(1024).default(''),
  framework: z.string().min(1).max(64),
  model: z.string().min(1).max(200).optional(),
  instructions: path.optional(),
  command: z.array(z.string().min(1).max(4096)).min(1, 'must name a program').max(100).default([]),
  entry: path.optional(),
  input_schema: valueSchema.optional(),
  output_schema: valueSchema.optional(),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), z.string().max(8192))
    .superRefine(refuseLiteralSecrets)
    .default({}),
  tools: z.array(glob).max(listMax).default(['*']),
  approval_required_tools: z.array(glob).max(listMax).default([]),
  rules: agentRules.default([]),
  mcp_servers: z
    .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), z.record(z.string(), z.json()))
    .optional(),
  connections: declaredConnections.default({}),
  agents: z
    .array(z.string().regex(agentNamePattern, 'must be the name of an agent'))
    .max(calledMax, `must name at most ${calledMax} agents`)
    .default([]),
  ask_user: z.boolean().default(true),
  sleep: z.boolean().default(false),
  context_files: z.array(path).max(100).default([]),
  enable_claude_md: z.boolean().default(false),
  skills: z
    .union([z.enum(['all', 'none']), z.array(z.string().min(1).max(64)).max(listMax)], {
      error: 'must be all, none or a list of skill names',
    })
    .default('all'),
  session_files: z.boolean().default(false),
  publish: z
    .array(
      z.enum(publications, `must be ${publications.join(' or ')}`),
      'must be a list, as in [a2a]',
    )
    .max(publications.length)
    .default([]),
  on_busy: z.enum(['queue', 'reject']).default('queue'),
  limits: z
    .strictObject({
      run_seconds: z.number().positive().max(604_800).default(900),
      wait_hours: z.number().positive().max(8760).default(72),
      max_tokens: z.int().min(1).max(limits.ceilingTokensMax).optional(),
      max_cost: amount.optional(),
      max_steps: z.int().min(1).max(10_000).default(25),
      memory_mb: z.int().min(16).max(1_048_576).default(1024),
      pids: z.int().min(1).max(32_768).default(128),
    })
    .prefault({}),
  recovery: z
    .strictObject({
      on_loss: z.enum(['resume', 'fail']).exactOptional(),
      attempts: z.int().min(1).max(20).default(3),
      in_doubt: z.enum(['ask', 'tell', 'fail']).default('ask'),
      repeatable_tools: z.array(glob).max(listMax).default([]),
      cut_message: z.enum(['continue', 'again']).exactOptional(),
    })
    .prefault({}),
  sandbox: z
    .strictObject({
      mode: z.enum(['auto', 'bwrap', 'none']).default('auto'),
      network: z.array(egress).max(listMax).default([]),
    })
    .prefault({}),
  tenants: z
    .strictObject({
      default: z.enum(['enabled', 'disabled']).default('enabled'),
      allow: tenantIds.default([]),
      deny: tenantIds.default([]),
    })
    .prefault({}),
  acp: z
    .strictObject({
      auth_method: z.string().min(1).max(200).exactOptional(),
      mode: z.string().min(1).max(200).exactOptional(),
      meta: z.record(z.string(), z.json()).exactOptional(),
    })
    .prefault({}),
  code: z.strictObject({ keep_seconds: z.int().min(0).max(3600).default(120) }).prefault({}),
  script: z.json().optional(),
});

export type AgentYaml = z.infer<typeof agentSchema>;

/** Parts of an agent's definition that are not in `agent.yaml` itself. */
export interface AgentSurroundings {
  readonly name: string;
  readonly folder: string;
  readonly instructions: string | undefined;
  readonly schemas: Pick<DeclaredAgent, 'input' | 'output'>;
  /** The default of `recovery.on_loss`. */
  readonly onLoss: RecoveryPolicy['onLoss'];
}

export function toDeclaredAgent(yaml: AgentYaml, around: AgentSurroundings): DeclaredAgent {
  return {
    name: around.name,
    description: yaml.description,
    framework: yaml.framework,
    ...(yaml.model !== undefined && { model: yaml.model }),
    approvalRequiredTools: yaml.approval_required_tools,
    rules: readRules(yaml.rules),
    sessionFiles: yaml.session_files,
    ...around.schemas,
    onBusy: yaml.on_busy,
    contextFiles: yaml.context_files,
    enableClaudeMd: yaml.enable_claude_md,
    skills: yaml.skills,
    limits: {
      runSeconds: yaml.limits.run_seconds,
      waitHours: yaml.limits.wait_hours,
      ceiling: {
        maxTokens: yaml.limits.max_tokens ?? null,
        maxCostMicros: yaml.limits.max_cost ?? null,
      },
    },
    recovery: {
      onLoss: yaml.recovery.on_loss ?? around.onLoss,
      attempts: yaml.recovery.attempts,
      inDoubt: yaml.recovery.in_doubt,
      repeatableTools: yaml.recovery.repeatable_tools,
      cutMessage: yaml.recovery.cut_message ?? 'continue',
    },
    tenants: yaml.tenants,
    publish: yaml.publish,
    ...connectionsOf(yaml),
    ...(yaml.agents.length > 0 && { calls: yaml.agents }),
    folder: around.folder,
    declared: frameworkKeys(yaml, around.instructions),
  };
}

/** Absent where there are none, so that the digest of such an agent stays what it was. */
function connectionsOf({
  connections,
  mcp_servers: servers,
}: AgentYaml): Pick<DeclaredAgent, 'connections'> {
  const declared = Object.entries(connections).map(
    ([service, { owner, fallback, required, oauth }]) => ({
      service,
      owner,
      hasFallback: fallback !== undefined,
      isRequired: required,
      ...(oauth && { link: linkOf(oauth, mcpServerOf(service, servers)) }),
    }),
  );
  return declared.length === 0 ? {} : { connections: declared };
}

/** Endpoints that are declared are used as they are (D-943). */
function linkOf(
  {
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
    client_id: clientId,
    client_secret: clientSecret,
    scope,
    issuer,
  }: z.infer<typeof declaredLink>,
  mcpServer = '',
): DeclaredLink {
  const isWhole =
    authorizationEndpoint !== undefined && tokenEndpoint !== undefined && clientId !== undefined;
  return isWhole
    ? { authorizationEndpoint, tokenEndpoint, clientId, clientSecret, scope, issuer }
    : { mcpServer, clientId, clientSecret, scope };
}

/** The URL of the first remote MCP server that the account of the service is for. */
export function mcpServerOf(
  service: string,
  servers: AgentYaml['mcp_servers'] = {},
): string | undefined {
  const { url } = Object.values(servers).find(({ connection }) => connection === service) ?? {};
  return typeof url === 'string' ? url : undefined;
}

function frameworkKeys(yaml: AgentYaml, instructions: string | undefined): FrameworkKeys {
  const { limits: most, acp } = yaml;
  return {
    instructions,
    command: yaml.command,
    entry: yaml.entry,
    url: yaml.url,
    env: yaml.env,
    tools: yaml.tools,
    mcpServers: yaml.mcp_servers ?? {},
    asksUser: yaml.ask_user,
    sleeps: yaml.sleep,
    stepsMax: most.max_steps,
    limits: { memoryMb: most.memory_mb, pids: most.pids },
    sandbox: yaml.sandbox,
    acp: { authMethod: acp.auth_method, mode: acp.mode, meta: acp.meta },
    code: { keepSeconds: yaml.code.keep_seconds },
    script: yaml.script,
  };
}

/** Agent folders are committed and copied, so they may contain references to secrets only. */
function refuseLiteralSecrets(env: Record<string, string>, context: z.RefinementCtx): void {
  for (const [name, value] of Object.entries(env)) {
    if (!/(KEY|TOKEN|SECRET|PASSWORD)$/i.test(name)) continue;
    if (/\$\{(env:\w+|file:\/[^}]+|connection:[^}]+)\}/.test(value)) continue;
    context.addIssue({
      code: 'custom',
      path: [name],
      message: `looks like a secret: refer to an environment variable of the server or to a file instead, as in "\${env:${name}}" or "\${file:/path}"`,
    });
  }
}
