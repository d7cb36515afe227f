import { basename, relative } from 'node:path';
import { printable } from '@convoke/faces/printable';
import type { CheckedAgent } from '@convoke/server';
import type { Command } from 'commander';
import { exitCodes, Failure } from '../../../failure.ts';
import { report } from '../../../operating.ts';
import { loadServer } from '../../../server.ts';
import { styled } from '../../../terminal/output.ts';

/** `convoke agents check`: the problems that a server would report for the folders of agents. */
export async function reportAgents(name: string | undefined, command: Command): Promise<void> {
  const { checkAgents, readConfig } = await loadServer();
  const config = readConfig(process.env);
  const folder = relative(process.cwd(), config.agentsDir) || '.';
  const agents = await checkAgents(config, name);
  if (agents === undefined) {
    throw new Failure(
      name === undefined
        ? `there is no folder ${folder}: make it, or set CONVOKE_AGENTS_DIR`
        : `there is no agent ${folder}/${name}: write one with \`convoke agents new ${name}\``,
    );
  }
  const ok = agents.every((agent) => agent.ok);
  const none = `no agents in ${folder}: write one with \`convoke agents new <name>\``;
  const width = Math.max(...agents.map((agent) => agent.name.length));
  const lines = agents.flatMap((agent) => linesOf(agent, { folder, width }));
  report(command, { ok, agents }, agents.length === 0 ? none : lines.join('\n'));
  if (!ok) process.exitCode = exitCodes.failed;
}

interface Columns {
  readonly folder: string;
  readonly width: number;
}

function linesOf(agent: CheckedAgent, { folder, width }: Columns): string[] {
  const name = agent.name.padEnd(width);
  const path = `${folder}/${agent.name}`;
  if (!agent.ok) return [`${styled('red', 'fail')}  ${name}  ${problemLine(path, agent.problem)}`];
  const warned = agent.warnings.map(
    (text) => `${styled('yellow', 'warn')}  ${name}  ${problemLine(path, text)}`,
  );
  return [...warned, `${styled('green', 'ok  ')}  ${name}  ${agent.framework ?? ''}`];
}

/** A problem that begins with a file gets the way to it, so that a terminal can open it. */
function problemLine(path: string, text: string): string {
  // As the program itself names its folder.
  const own = `agents/${basename(path)} `;
  if (text.startsWith(own)) return printable(`${path} ${text.slice(own.length)}`);
  const isFile = /^[\w./-]+\.\w+(?::\d+)*(?::| |$)/.test(text);
  return printable(isFile ? `${path}/${text}` : `${path}: ${text}`);
}
