import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { acpSuite } from './acp-suite.ts';

const name = '@google/gemini-cli';

await acpSuite({
  package: { name, version: '0.61.0' },
  settings: ({ modules, modelUrl }) => ({
    // The model is named because `auto` asks another one first which to take.
    command: [
      'node',
      join(modules, name, 'bundle', 'gemini.js'),
      '--acp',
      '-m',
      'gemini-2.5-flash',
    ],
    env: { GEMINI_API_KEY: 'test', GOOGLE_GEMINI_BASE_URL: modelUrl },
    acp: { auth_method: 'gemini-api-key' },
  }),
  write: (file, content) => ({
    tool: 'write_file',
    input: { file_path: `/workspace/${file}`, content },
  }),
  look: { tool: 'list_directory', input: { dir_path: '/workspace' } },
  // It names a session's file by the minute, and overwrites it when it loads the session within the same one.
  async beforeRestart() {
    const minute = new Date().getMinutes();
    await eventually(() => new Date().getMinutes() !== minute, 65_000);
  },
  cannot: { questions: 'gemini offers its tool for questions to terminals only' },
});
