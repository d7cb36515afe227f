import { join } from 'node:path';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { eventually } from '../support/eventually.ts';
import { acpSuite, withEnv } from './acp-suite.ts';

const name = '@google/gemini-cli';

await acpSuite({
  package: { name, version: '0.61.0' },
  settings: ({ modules, modelUrl }) => ({
    // The model is set because `auto` first asks another model which one to use.
    command: [
      'node',
      join(modules, name, 'bundle', 'gemini.js'),
      '--acp',
      '-m',
      'gemini-2.5-flash',
    ],
    env: {
      GEMINI_API_KEY: 'key-of-the-agent',
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      // Without this it ignores instructions in the session folder, skills included.
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    acp: { auth_method: 'gemini-api-key' },
  }),
  refused: (given) => ({
    key: withEnv(given, { GEMINI_API_KEY: 'bad-key' }),
    model: { ...given, command: [...commandOf(given).slice(0, -1), 'refused-1'] },
  }),
  write: (file, content) => ({
    tool: 'write_file',
    input: { file_path: `/workspace/${file}`, content },
  }),
  shell: (command) => ({ tool: 'run_shell_command', input: { command } }),
  look: { tool: 'list_directory', input: { dir_path: '/workspace' } },
  // It names the file of a session by the minute, and overwrites it when it loads the session within that minute.
  async beforeRestart() {
    const minute = new Date().getMinutes();
    await eventually(() => new Date().getMinutes() !== minute, 65_000);
  },
  runsHarmless: 'over ACP gemini heeds neither its hooks nor a policy that says ask_user',
  cannot: { questions: 'gemini offers its tool for questions to terminals only' },
});

function commandOf({ command }: JsonObject): readonly Json[] {
  return Array.isArray(command) ? command : [];
}
