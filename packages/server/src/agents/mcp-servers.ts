import { z } from 'zod';

const texts = z.record(z.string(), z.string());
const localServer = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
});
const remoteServer = z.strictObject({
  type: z.enum(['http', 'sse']).default('http'),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  headers: texts.default({}),
});

/** An MCP server as an `agent.yaml` names it, for agents that start or call it themselves. */
export const mcpServer = z.union([localServer, remoteServer], {
  error: 'must be {command, args, env} or {url, headers}',
});
export type McpServer = z.infer<typeof mcpServer>;
export type McpServers = Readonly<Record<string, McpServer>>;
