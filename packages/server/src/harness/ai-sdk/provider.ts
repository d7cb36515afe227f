import type { LanguageModel } from 'ai';
import { type AiSdkSettings, type ProviderName, providerEnv } from './settings.ts';

type Env = Readonly<Record<string, string>>;

interface Access {
  readonly key: string;
  readonly url: string | undefined;
}

/**
 * Without an explicit key or address, every provider reads the server's own environment. So both are always passed: an
 * agent gets the values of its own `env` only.
 */
const makers: Readonly<
  Record<ProviderName, (model: string, access: Access) => Promise<LanguageModel>>
> = {
  async 'openai-compatible'(model, { key, url = '' }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const access = { baseURL: url, ...(key !== '' && { apiKey: key }) };
    return createOpenAICompatible({ name: 'openai-compatible', includeUsage: true, ...access })(
      model,
    );
  },
  async openai(model, { key, url = 'https://api.openai.com/v1' }) {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ apiKey: key, baseURL: url }).responses(model);
  },
  async anthropic(model, { key, url = 'https://api.anthropic.com/v1' }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ apiKey: key, baseURL: url })(model);
  },
  async google(model, { key, url = 'https://generativelanguage.googleapis.com/v1beta' }) {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({ apiKey: key, baseURL: url })(model);
  },
};

/** The model an agent names, with the key and the address of its `env`. */
export async function openModel(
  { provider, modelId }: Pick<AiSdkSettings, 'provider' | 'modelId'>,
  env: Env,
): Promise<LanguageModel> {
  const { key, url } = providerEnv[provider];
  return makers[provider](modelId, { key: firstOf(env, key) ?? '', url: firstOf(env, url) });
}

function firstOf(env: Env, names: readonly string[]): string | undefined {
  const name = names.find((candidate) => env[candidate] !== undefined);
  return name === undefined ? undefined : env[name];
}
