import { join } from 'node:path';
import type { JsonObject } from '../../../src/domain/json.ts';
import { installedAgent } from '../installed-agent.ts';

/** codex-acp: the lightest real ACP agent there is, one program without a runtime. */
export const codexVersion = '0.16.0';

const integrity: Readonly<Record<string, string>> = {
  'linux-arm64':
    'sha512-8HaZGWVPVs1N6yqImLCKlnlcYTYc9BMCEhaVJk0ON9lyofhK9mOBBAHQndKC4Scqq5JLUHQIOyb8+jwHUe3hSQ==',
  'linux-x64':
    'sha512-xs5zZBLpJuciEbZNx6ZSNL0qCa9h3i/zWpj40sp6QtF+L4Ow/7qzHdBzboGhHdcz1jrLedfZeRFDA2Elj8TLMA==',
  'darwin-arm64':
    'sha512-2AmbWsc/+Mpn6U8UOIlPLvgwGsGOr/LFpgcvrnjcCT9V1yY92MLrqzjMX82+VjTrRLRuXvc25SB5Z1++4Pw29g==',
  'darwin-x64':
    'sha512-QCWggk0s4GTPLCR7eznyx29Dls4gzUKvp4MjZ4nzPX5gDL/02PGY+oCV1WsQOsnzWRK0RxM+GlK19rG1qzqplw==',
};

interface CodexSettings extends JsonObject {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: { readonly mode: 'auto'; readonly network: readonly string[] };
}

/** Its settings in an `agent.yaml`, for a model at this address. */
export async function codexSettings(modelUrl: string): Promise<CodexSettings> {
  const platform = `${process.platform}-${process.arch}`;
  const pinned = integrity[platform];
  if (pinned === undefined) throw new Error(`codex-acp has no build for ${platform}`);
  const name = `@zed-industries/codex-acp-${platform}`;
  const modules = await installedAgent({ name, version: codexVersion, integrity: pinned });
  const provider = `{name="scripted", base_url="${modelUrl}/v1", wire_api="responses", env_key="MODEL_KEY", request_max_retries=0, stream_max_retries=0}`;
  const options = [
    'model="scripted"',
    'model_provider="scripted"',
    `model_providers.scripted=${provider}`,
    // It asks before every command that it does not know to be harmless; our sandbox isolates it.
    'approval_policy="untrusted"',
    'sandbox_mode="danger-full-access"',
    // Needed so that it reads the rules in its session folder.
    'projects={"/workspace"={trust_level="trusted"}}',
  ];
  return {
    command: [join(modules, name, 'bin', 'codex-acp'), ...options.flatMap((line) => ['-c', line])],
    env: { MODEL_KEY: 'test' },
    sandbox: { mode: 'auto', network: [new URL(modelUrl).host] },
  };
}
