import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { type AgentProblem, problemsOf } from './problems.ts';

const texts = z.record(z.string(), z.string());
const trust = {
  /** Whether the server is trusted when it marks tools as read-only or repeatable (D-81). */
  trust_annotations: z.boolean().exactOptional(),
};
const localServer = z.strictObject({
  ...trust,
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
});
const remoteServer = z.strictObject({
  ...trust,
  type: z.enum(['http', 'sse']).default('http'),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  headers: texts.default({}),
  /** The service whose account authorizes the requests (D-597). */
  connection: z.string().exactOptional(),
});

/** An MCP server as an `agent.yaml` names it: a program to start, or a URL to call. */
export type McpServer = z.infer<typeof localServer> | z.infer<typeof remoteServer>;
export type McpServers = Readonly<Record<string, McpServer>>;

/** Reads `mcp_servers`; the servers are complete only when there are no problems. */
export function readMcpServers(given: Readonly<Record<string, JsonObject>>): {
  readonly servers: McpServers;
  readonly problems: readonly AgentProblem[];
} {
  const servers: Record<string, McpServer> = {};
  const problems: AgentProblem[] = [];
  for (const [name, server] of Object.entries(given)) {
    const schema = 'url' in server ? remoteServer : localServer;
    const parsed = schema.safeParse(server);
    if (parsed.success) {
      servers[name] = parsed.data;
      problems.push(...literalSecretsIn(name, parsed.data));
      continue;
    }
    for (const { path, message } of problemsOf(parsed.error, schema)) {
      problems.push({ path: ['mcp_servers', name, ...path], message });
    }
  }
  return { servers, problems };
}

/** D-247: a secret in an `agent.yaml` is a mistake, for an MCP server as for the agent itself. */
function literalSecretsIn(name: string, server: McpServer): readonly AgentProblem[] {
  const [member, values] = 'url' in server ? ['headers', server.headers] : ['env', server.env];
  return Object.entries(values).flatMap(([key, value]) =>
    /(key|token|secret|password|authorization)$/i.test(key) && !value.includes('${')
      ? [
          {
            path: ['mcp_servers', name, member, key],
            message:
              'looks like a secret: refer to an environment variable of the server, as in "${env:NAME}"',
          },
        ]
      : [],
  );
}
