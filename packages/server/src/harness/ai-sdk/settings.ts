import { type McpServers, readMcpServers } from '../../agents/mcp-servers.ts';
import { matchesGlob } from '../../domain/rules/glob.ts';
import type {
  AgentProblem,
  DeclaredAgent,
  FrameworkKeys,
  ReadSettings,
} from '../../ports/harness.ts';

const providerNames = ['openai-compatible', 'openai', 'anthropic', 'google'] as const;
export type ProviderName = (typeof providerNames)[number];

/** Variables of `env` that may hold a provider's key and address; the first one that is set counts. */
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

export interface AiSdkSettings
  extends Pick<FrameworkKeys, 'env' | 'tools' | 'asksUser' | 'stepsMax' | 'limits' | 'sandbox'>,
    Model {
  readonly instructions: string;
  readonly mcpServers: McpServers;
  readonly sleeps?: true;
}

export function readAiSdk(agent: DeclaredAgent): ReadSettings<AiSdkSettings> {
  const { declared } = agent;
  const model = readModel(agent.model);
  const mcp = readMcpServers(declared.mcpServers);
  const problems = [
    ...('problem' in model
      ? [{ path: ['model'], message: model.problem }]
      : checkEnv(model, declared.env)),
    ...mcp.problems,
  ];
  if ('problem' in model || problems.length > 0) return { ok: false, problems };
  const { env, tools, asksUser, sleeps, stepsMax, limits, sandbox, instructions = '' } = declared;
  const settings: AiSdkSettings = {
    ...model,
    env,
    tools,
    asksUser,
    stepsMax,
    limits,
    sandbox,
    instructions,
    mcpServers: mcp.servers,
    // Absent where it is off, so that the digest of such an agent stays what it was.
    ...(sleeps && { sleeps }),
  };
  return { ok: true, settings };
}

export function isAllowedTool(settings: Pick<AiSdkSettings, 'tools'>, name: string): boolean {
  return settings.tools.some((glob) => matchesGlob(glob, name));
}

interface Model {
  readonly provider: ProviderName;
  readonly modelId: string;
}

/** Reads `provider/model`. The model's own name may contain slashes. */
function readModel(text: string | undefined): Model | { readonly problem: string } {
  const known = providerNames.join(', ');
  if (text === undefined) {
    return { problem: `is missing: write provider/model, where provider is one of ${known}` };
  }
  const slash = text.indexOf('/');
  const provider = providerNames.find((name) => name === text.slice(0, slash));
  const modelId = text.slice(slash + 1);
  if (slash === -1 || provider === undefined || modelId === '') {
    return { problem: `must be provider/model, where provider is one of ${known}` };
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
      : [
          {
            path: ['env'],
            message: `must contain the address of the model: BASE_URL: "http://…/v1"`,
          },
        ];
  }
  if (has(key)) return [];
  const variable = key[1] ?? 'API_KEY';
  const message = `must contain the key of ${provider}: API_KEY: "\${env:${variable}}"`;
  return [{ path: ['env'], message }];
}
