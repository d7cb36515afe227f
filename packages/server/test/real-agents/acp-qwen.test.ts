import { join } from 'node:path';
import { acpSuite } from './acp-suite.ts';

const name = '@qwen-code/qwen-code';

await acpSuite({
  package: { name, version: '0.24.4' },
  settings: ({ modules, modelUrl }) => ({
    command: ['node', join(modules, name, 'cli-entry.js'), '--acp'],
    env: { OPENAI_API_KEY: 'test', OPENAI_BASE_URL: `${modelUrl}/v1`, OPENAI_MODEL: 'scripted' },
    // Left alone it decides by itself what is safe, and would be stopped for it.
    acp: { auth_method: 'openai', mode: 'default' },
  }),
  write: (file, content) => ({
    tool: 'write_file',
    input: { file_path: `/workspace/${file}`, content },
  }),
  look: { tool: 'list_directory', input: { path: '/workspace' } },
  cannot: { questions: 'qwen offers its tool for questions to terminals only' },
});
