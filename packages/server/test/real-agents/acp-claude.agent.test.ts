import { join } from 'node:path';
import { acpSuite, withEnv } from './acp-suite.ts';

const name = '@agentclientprotocol/claude-agent-acp';

await acpSuite({
  package: { name, version: '0.99.0' },
  settings: ({ modules, modelUrl }) => ({
    command: ['node', join(modules, name, 'dist', 'index.js')],
    env: {
      ANTHROPIC_API_KEY: 'key-of-the-agent',
      ANTHROPIC_BASE_URL: modelUrl,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Without this it retries a refused key for minutes.
      CLAUDE_CODE_MAX_RETRIES: '1',
    },
    // Without this it runs read-only commands without asking.
    acp: {
      meta: { claudeCode: { options: { settings: { permissions: { ask: ['Bash'] } } } } },
    },
  }),
  refused: (given) => ({
    key: withEnv(given, { ANTHROPIC_API_KEY: 'bad-key' }),
    model: withEnv(given, { ANTHROPIC_MODEL: 'refused-1' }),
  }),
  write: (file, content) => ({
    tool: 'Write',
    input: { file_path: `/workspace/${file}`, content },
  }),
  shell: (command) => ({ tool: 'Bash', input: { command, description: 'x' } }),
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
