import { join } from 'node:path';
import { acpSuite, withEnv } from './acp-suite.ts';

const name = '@qwen-code/qwen-code';

await acpSuite({
  package: { name, version: '0.24.4' },
  settings: ({ modules, modelUrl }) => ({
    command: ['node', join(modules, name, 'cli-entry.js'), '--acp'],
    env: {
      OPENAI_API_KEY: 'key-of-the-agent',
      OPENAI_BASE_URL: `${modelUrl}/v1`,
      OPENAI_MODEL: 'scripted',
      QWEN_CODE_SYSTEM_SETTINGS_PATH: '/agent/settings.json',
    },
    // By default it decides itself which calls are safe, and would be stopped for it.
    acp: { auth_method: 'openai', mode: 'default' },
  }),
  files: { 'settings.json': { permissions: { ask: ['Bash'] } } },
  refused: (given) => ({
    key: withEnv(given, { OPENAI_API_KEY: 'bad-key' }),
    model: withEnv(given, { OPENAI_MODEL: 'refused-1' }),
  }),
  write: (file, content) => ({
    tool: 'write_file',
    input: { file_path: `/workspace/${file}`, content },
  }),
  shell: (command) => ({ tool: 'run_shell_command', input: { command, is_background: false } }),
  look: { tool: 'list_directory', input: { path: '/workspace' } },
  cannot: { questions: 'qwen offers its tool for questions to terminals only' },
});
