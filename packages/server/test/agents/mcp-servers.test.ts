import { expect, test } from 'vitest';
import { readAcp } from '../../src/harness/acp/settings.ts';
import { readAiSdk } from '../../src/harness/ai-sdk/settings.ts';
import { readClaude } from '../../src/harness/claude/settings.ts';
import { agentOf, problemsWith } from '../support/agent-folders.ts';

const key = { ANTHROPIC_API_KEY: '${env:ANTHROPIC_API_KEY}' };

test.each([
  ['acp', readAcp, { command: ['agent'] }],
  ['claude', readClaude, { env: key }],
  ['ai-sdk', readAiSdk, { env: key }],
] as const)(
  '%s refuses a secret of an MCP server that is not a reference',
  (framework, read, more) => {
    const problems = (mcp_servers: object) =>
      problemsWith(
        { read },
        agentOf({ framework, model: 'anthropic/x', settings: { ...more, mcp_servers } }),
      ).map(({ path }) => path.join('.'));
    const literal = {
      far: {
        url: 'https://x.example',
        headers: { Authorization: 'Bearer abc', Accept: 'text/plain' },
      },
      near: { command: 'node', env: { API_KEY: 'abc', LEVEL: 'high' } },
    };
    expect(problems(literal)).toEqual([
      'mcp_servers.far.headers.Authorization',
      'mcp_servers.near.env.API_KEY',
    ]);
    const referring = {
      far: { url: 'https://x.example', headers: { Authorization: 'Bearer ${env:FAR}' } },
      near: { command: 'node', env: { API_KEY: '${file:/run/key}' } },
    };
    expect(problems(referring)).toEqual([]);
  },
);
