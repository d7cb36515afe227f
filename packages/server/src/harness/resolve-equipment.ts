import type { McpServer, McpServers } from '../agents/mcp-servers.ts';
import {
  type Redact,
  redactAll,
  redactor,
  resolveReferences,
} from '../agents/secret-references.ts';
import type { LegConnections } from '../ports/connections/leg-connections.ts';
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
  connections: LegConnections | undefined,
): Promise<ResolvedEquipment> {
  const lookUp = (texts: Texts) => resolveOrFail(texts, connections);
  const own = await lookUp(given.env);
  const redactors = [own.redact];
  const mcpServers: Record<string, McpServer> = {};
  for (const [name, server] of Object.entries(given.mcpServers)) {
    const { values, redact } = await lookUp('url' in server ? server.headers : server.env);
    redactors.push(redact);
    const equipped = equippedServer(server, values, connections);
    if (equipped === undefined) continue;
    mcpServers[name] = equipped.server;
    redactors.push(equipped.redact);
  }
  return { env: own.values, mcpServers, redact: redactAll(redactors) };
}

type Texts = Readonly<Record<string, string>>;

/** The server with its values and the header of its account; undefined where that account is missing. */
function equippedServer(
  server: McpServer,
  values: Texts,
  connections: LegConnections | undefined,
): { readonly server: McpServer; readonly redact: Redact } | undefined {
  if (!('url' in server)) return { server: { ...server, env: values }, redact: redactor([]) };
  const { connection, ...rest } = server;
  if (connection === undefined) {
    return { server: { ...rest, headers: values }, redact: redactor([]) };
  }
  const account = connections?.atStart(connection);
  if (account === undefined) return undefined;
  const headers = { ...values, [account.name]: account.value };
  return { server: { ...rest, headers }, redact: redactor([account.secret]) };
}

async function resolveOrFail(texts: Texts, connections: LegConnections | undefined) {
  const resolved = await resolveReferences(texts, { connections });
  if (resolved.ok) return resolved;
  throw new LegFailure('agent_error', `In the agent's env, ${resolved.message}`);
}
