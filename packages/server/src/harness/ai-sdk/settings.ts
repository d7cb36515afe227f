import { z } from 'zod';
import { problemsOf } from '../../agents/problems.ts';
import { type Agent, matchesGlob } from '../../domain/agent.ts';
import type { AgentProblem } from '../../ports/harness.ts';

const providerNames = ['openai-compatible', 'openai', 'anthropic', 'google'] as const;
export type ProviderName = (typeof providerNames)[number];

/** Under which names of `env` a provider's key and address are looked for, the first one that is there. */
export const providerEnv: Readonly<
  Record<ProviderName, { readonly key: readonly string[]; readonly url: readonly string[] }>
> = {
  'openai-compatible': {
    key: ['API_KEY', 'OPENAI_COMPATIBLE_API_KEY'],
    url: ['BASE_URL', 'OPENAI_COMPATIBLE_BASE_URL'],
  },
  openai: { key: ['API_KEY', 'OPENAI_API_KEY'], url: ['BASE_URL', 'OPENAI_BASE_URL'] },
  anthropic: { key: ['API_KEY', 'ANTHROPIC_API_KEY'], url: ['BASE_URL', 'ANTHROPIC_BASE_URL'] },
  google: {
    key: ['API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    url: ['BASE_URL', 'GEMINI_BASE_URL'],
  },
};

const texts = z.record(z.string(), z.string());
const localServer = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
});
const remoteServer = z.strictObject({
  type: z.enum(['http', 'sse']).default('http'),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  headers: texts.default({}),
});
export type McpServer = z.infer<typeof localServer> | z.infer<typeof remoteServer>;

/** What the registry has already checked: kept as `agent.yaml` says it (`agent-schema.ts`). */
const settingsSchema = z.object({
  instructions: z.string().default(''),
  env: texts.default({}),
  tools: z.array(z.string()).default(['*']),
  mcp_servers: z.record(z.string(), z.unknown()).default({}),
  ask_user: z.boolean().default(true),
  limits: z
    .object({
      max_steps: z.number().default(25),
      memory_mb: z.number().default(1024),
      pids: z.number().default(128),
    })
    .prefault({}),
  sandbox: z
    .object({
      mode: z.enum(['auto', 'bwrap', 'none']).default('auto'),
      network: z.array(z.string()).default([]),
    })
    .prefault({}),
});

export interface AiSdkSettings extends Omit<z.infer<typeof settingsSchema>, 'mcp_servers'> {
  readonly provider: ProviderName;
  readonly modelId: string;
  readonly mcpServers: ReadonlyMap<string, McpServer>;
}

/** What is wrong with an ai-sdk agent, for the registry to report when it reads the folder. */
export function checkAiSdk(agent: Agent): readonly AgentProblem[] {
  const settings = settingsSchema.parse(agent.settings);
  const model = readModel(agent.model);
  return [
    ...(typeof model === 'string'
      ? [{ path: ['model'], message: model }]
      : checkEnv(model, settings.env)),
    ...Object.entries(settings.mcp_servers).flatMap(([name, server]) => checkServer(name, server)),
  ];
}

/** The settings of an agent that the registry accepted. */
export function settingsOf(agent: Agent): AiSdkSettings {
  const { mcp_servers, ...settings } = settingsSchema.parse(agent.settings);
  const model = readModel(agent.model);
  if (typeof model === 'string') throw new Error(`model ${model}`);
  const servers = Object.entries(mcp_servers).map(
    ([name, server]) => [name, schemaOf(server).parse(server)] as const,
  );
  return { ...settings, ...model, mcpServers: new Map(servers) };
}

export function isAllowedTool(settings: Pick<AiSdkSettings, 'tools'>, name: string): boolean {
  return settings.tools.some((glob) => matchesGlob(glob, name));
}

interface Model {
  readonly provider: ProviderName;
  readonly modelId: string;
}

/** `provider/model`, or what is wrong with it. The model's own name may hold slashes. */
function readModel(text: string | undefined): Model | string {
  const known = providerNames.join(', ');
  if (text === undefined) return `is missing: write provider/model, with one of ${known}`;
  const slash = text.indexOf('/');
  const provider = providerNames.find((name) => name === text.slice(0, slash));
  const modelId = text.slice(slash + 1);
  if (slash === -1 || provider === undefined || modelId === '') {
    return `must be provider/model, with one of ${known}`;
  }
  return { provider, modelId };
}

function checkEnv(
  { provider }: Model,
  env: Readonly<Record<string, string>>,
): readonly AgentProblem[] {
  const { key, url } = providerEnv[provider];
  const has = (names: readonly string[]) => names.some((name) => env[name] !== undefined);
  if (provider === 'openai-compatible') {
    return has(url)
      ? []
      : [{ path: ['env'], message: `must say where the model is: BASE_URL: "http://…/v1"` }];
  }
  if (has(key)) return [];
  const variable = key[1] ?? 'API_KEY';
  const message = `must name the key of ${provider}: API_KEY: "\${env:${variable}}"`;
  return [{ path: ['env'], message }];
}

function checkServer(name: string, server: unknown): readonly AgentProblem[] {
  const schema = schemaOf(server);
  const parsed = schema.safeParse(server);
  if (!parsed.success) {
    return problemsOf(parsed.error, schema).map(({ path, message }) => ({
      path: ['mcp_servers', name, ...path],
      message,
    }));
  }
  const [member, values] =
    'url' in parsed.data ? ['headers', parsed.data.headers] : ['env', parsed.data.env];
  return Object.entries(values).flatMap(([key, value]) =>
    /(key|token|secret|password|authorization)$/i.test(key) && !value.includes('${')
      ? [
          {
            path: ['mcp_servers', name, member, key],
            message:
              'looks like a secret: refer to one of the server\'s variables, as in "${env:NAME}"',
          },
        ]
      : [],
  );
}

function schemaOf(server: unknown): typeof localServer | typeof remoteServer {
  return typeof server === 'object' && server !== null && 'url' in server
    ? remoteServer
    : localServer;
}
