import { join } from 'node:path';
import type { McpServer, McpServers } from '../../agents/mcp-servers.ts';
import { writeConfined } from '../../confined-fs/files.ts';
import type { ResolvedEquipment } from '../resolve-equipment.ts';

/** Settings for Claude's program that keep secrets out of its command line and its commands. */
export interface HiddenSecrets {
  readonly env: Readonly<Record<string, string>>;
  readonly mcpServers: McpServers;
  /** Variables that Claude may read but its commands must not. */
  readonly secretNames: readonly string[];
}

/**
 * Moves the secrets of MCP servers into environment variables. The SDK puts MCP servers on the command line of Claude's
 * program, which all users of the machine can read; so they refer to variables instead, which Claude expands.
 */
export function hideSecrets(
  given: Pick<ResolvedEquipment, 'env' | 'mcpServers'>,
  resolved: Pick<ResolvedEquipment, 'env' | 'mcpServers'>,
): HiddenSecrets {
  const hidden: Record<string, string> = {};
  const hide = (before: Texts, after: Texts): Record<string, string> =>
    Object.fromEntries(
      Object.entries(after).map(([name, value]) => {
        if (before[name] === value) return [name, value];
        const variable = `CONVOKE_MCP_${Object.keys(hidden).length + 1}`;
        hidden[variable] = value;
        return [name, `\${${variable}}`];
      }),
    );
  const mcpServers: Record<string, McpServer> = {};
  for (const [name, declared] of Object.entries(resolved.mcpServers)) {
    // For the server's own use: Claude does not know the key.
    const { trust_annotations: _, ...server } = declared;
    const before = given.mcpServers[name];
    mcpServers[name] =
      'url' in server
        ? {
            ...server,
            headers: hide(before && 'url' in before ? before.headers : {}, server.headers),
          }
        : { ...server, env: hide(before && 'command' in before ? before.env : {}, server.env) };
  }
  const changed = Object.keys(resolved.env).filter(
    (name) => given.env[name] !== resolved.env[name],
  );
  return {
    env: { ...resolved.env, ...hidden },
    mcpServers,
    secretNames: [...changed, ...Object.keys(hidden)],
  };
}

type Texts = Readonly<Record<string, string>>;

/** Writes a script that Claude's shell runs before each command and that unsets these variables. */
export async function writeUnsetScript(home: string, names: readonly string[]): Promise<string> {
  const path = '.convoke/forget.sh';
  const lines = names.map((name) => `unset ${name}\n`).join('');
  await writeConfined({ root: home, path }, [Buffer.from(lines)], { reclaim: 'everything' });
  return join(home, path);
}
