import { join } from 'node:path';
import { type JsonObject, isObject } from '../../src/domain/json.ts';
import { acpSuite, withEnv } from './acp-suite.ts';

// Installs only the package for this platform: the main package just selects it at install time.
const name = `opencode-${process.platform}-${process.arch}`;

await acpSuite({
  package: { name, version: '1.18.18' },
  settings: ({ modules, modelUrl }) => {
    const models = { scripted: { name: 'scripted' } };
    // It connects to itself over 127.0.0.1 without the proxy; the model must go through the proxy, so it has another
    // name.
    const url = modelUrl.replace('127.0.0.1', 'localhost');
    const options = { baseURL: `${url}/v1`, apiKey: 'key-of-the-agent' };
    const provider = { npm: '@ai-sdk/openai-compatible', name: 'scripted', options, models };
    const config = {
      provider: { scripted: provider },
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
      permission: { bash: 'ask', edit: 'ask' },
      autoupdate: false,
      share: 'disabled',
    };
    return {
      command: [join(modules, name, 'bin', 'opencode'), 'acp'],
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        NO_PROXY: '127.0.0.1',
      },
      sandbox: { mode: 'auto', network: [new URL(url).host] },
    };
  },
  refused: (given) => ({
    key: changed(given, (text) => text.replace('key-of-the-agent', 'bad-key')),
    model: changed(given, (text) => text.replaceAll('scripted', 'refused-1')),
  }),
  write: (file, content) => ({ tool: 'write', input: { filePath: `/workspace/${file}`, content } }),
  shell: (command) => ({ tool: 'bash', input: { command, description: 'x' } }),
  look: { tool: 'glob', input: { pattern: '*' } },
  cannot: { questions: 'opencode offers its tool for questions to terminals only' },
});

function changed(given: JsonObject, change: (config: string) => string): JsonObject {
  const { OPENCODE_CONFIG_CONTENT: config } = isObject(given['env']) ? given['env'] : {};
  if (typeof config !== 'string') throw new Error('opencode has no configuration');
  return withEnv(given, { OPENCODE_CONFIG_CONTENT: change(config) });
}
