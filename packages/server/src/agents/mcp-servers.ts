import { z } from 'zod';
import { LegFailure } from '../harness/leg-failure.ts';
import { type Redact, redactAll, resolveReferences } from './secret-references.ts';

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

export interface Equipment {
  readonly env: Readonly<Record<string, string>>;
  readonly mcpServers: McpServers;
  /** Takes every secret of theirs out of a text. */
  readonly redact: Redact;
}

/** What the settings refer to goes to the agent's program, and to the MCP servers that it uses. */
export async function resolveEquipment(
  given: Pick<Equipment, 'env' | 'mcpServers'>,
): Promise<Equipment> {
  const own = await lookUp(given.env);
  const redactors = [own.redact];
  const mcpServers: Record<string, McpServer> = {};
  for (const [name, server] of Object.entries(given.mcpServers)) {
    const { values, redact } = await lookUp('url' in server ? server.headers : server.env);
    mcpServers[name] =
      'url' in server ? { ...server, headers: values } : { ...server, env: values };
    redactors.push(redact);
  }
  return { env: own.values, mcpServers, redact: redactAll(redactors) };
}

async function lookUp(references: Readonly<Record<string, string>>) {
  const found = await resolveReferences(references);
  if (!found.ok) throw new LegFailure('agent_error', `In the agent's env, ${found.message}`);
  return found;
}
