import type { McpServer, McpServers } from '../agents/mcp-servers.ts';
import { type Redact, redactAll, resolveReferences } from '../agents/secret-references.ts';
import { LegFailure } from './leg-failure.ts';

export interface ResolvedEquipment {
  readonly env: Readonly<Record<string, string>>;
  readonly mcpServers: McpServers;
  /** Removes every secret of the environment and of the MCP servers. */
  readonly redact: Redact;
}

/** Resolves the references of an agent's environment and of its MCP servers. */
export async function resolveEquipment(
  given: Pick<ResolvedEquipment, 'env' | 'mcpServers'>,
): Promise<ResolvedEquipment> {
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
