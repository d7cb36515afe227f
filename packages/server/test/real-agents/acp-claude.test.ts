import { join } from 'node:path';
import { acpSuite } from './acp-suite.ts';

const name = '@agentclientprotocol/claude-agent-acp';

await acpSuite({
  package: { name, version: '0.99.0' },
  settings: ({ modules, modelUrl }) => ({
    command: ['node', join(modules, name, 'dist', 'index.js')],
    env: {
      ANTHROPIC_API_KEY: 'test',
      ANTHROPIC_BASE_URL: modelUrl,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  }),
  write: (file, content) => ({
    tool: 'Write',
    input: { file_path: `/workspace/${file}`, content },
  }),
  look: { tool: 'Glob', input: { pattern: '*' } },
  ask: (question, options) => ({
    tool: 'AskUserQuestion',
    input: {
      questions: [
        {
          question,
          header: 'Choice',
          options: options.map((label) => ({ label, description: label })),
          multiSelect: false,
        },
      ],
    },
  }),
});
