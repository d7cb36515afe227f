import { join } from 'node:path';
import type { ResolvedEquipment } from '../resolve-equipment.ts';
import type { McpServer, McpServers } from '../../agents/mcp-servers.ts';
import { writeConfined } from '../../confined-fs/files.ts';

/** What Claude's program is given, so that neither its command line nor its commands hold a secret. */
export interface HiddenSecrets {
  readonly env: Readonly<Record<string, string>>;
  readonly mcpServers: McpServers;
  /** Names of variables that are Claude's own and none of its commands' business. */
  readonly secretNames: readonly string[];
}

/**
 * The SDK puts MCP servers on the command line of Claude's program, where everybody on the machine can read them. So
 * what a reference led to goes into a variable, and the servers name the variable: Claude fills it in.
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
  for (const [name, server] of Object.entries(resolved.mcpServers)) {
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

/** A file that Claude's shell reads before each command, which makes it forget these variables. */
export async function writeForgetting(home: string, names: readonly string[]): Promise<string> {
  const path = '.convoke/forget.sh';
  const lines = names.map((name) => `unset ${name}\n`).join('');
  await writeConfined({ root: home, path }, [Buffer.from(lines)], { reclaim: 'everything' });
  return join(home, path);
}
