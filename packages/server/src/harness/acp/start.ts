import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { LegContext } from '../../ports/harness.ts';
import { type Sandbox, SandboxUnavailable, type SandboxedProcess } from '../../ports/sandbox.ts';
import { inBackground } from '../../runtime/in-background.ts';
import { findProgram, systemPath } from '../../sandbox/program-path.ts';
import { LegFailure } from '../leg-failure.ts';
import type { ResolvedEquipment } from '../resolve-equipment.ts';
import { traceVariable } from '../trace-variable.ts';
import { AgentProcess } from './process.ts';
import type { AcpSettings } from './settings.ts';

export interface StartParts {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly context: LegContext<AcpSettings>;
  readonly equipment: ResolvedEquipment;
  /** Aborted when the run is cancelled: kills the process at any point of its start. */
  readonly signal: AbortSignal;
}

/** Starts the agent's program and opens its session: the known one if the agent still has it. */
export async function startAgent(
  { sandbox, clock, context, equipment, signal }: StartParts,
  known: string | undefined,
): Promise<{ readonly process: AgentProcess; readonly isKnown: boolean }> {
  const { env, mcpServers, redact } = equipment;
  const settings = { ...context.settings, env, mcpServers };
  const child = await spawn(sandbox, context, settings);
  const kill = () => inBackground(child.kill());
  signal.addEventListener('abort', kill, { once: true });
  try {
    if (signal.aborted) throw new LegFailure('agent_error', 'The run was cancelled.');
    const process = new AgentProcess({ child, settings, clock, redact });
    return { process, isKnown: await process.open(known) };
  } catch (error) {
    await child.kill();
    throw error;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

async function spawn(
  sandbox: Sandbox,
  { agent, sessionFolder, stateDir, trace }: LegContext,
  { command: named, env, limits, sandbox: { mode, network } }: AcpSettings,
): Promise<SandboxedProcess> {
  const command = await realCommand(locateProgram(named));
  try {
    return await sandbox.spawn(command, {
      mode,
      sessionFolder,
      home: stateDir,
      folder: agent.folder,
      readOnly: programPaths(command),
      env: { ...traceVariable({ trace }), ...env },
      limits,
      network,
    });
  } catch (error) {
    if (error instanceof SandboxUnavailable) {
      throw new LegFailure('sandbox_unavailable', error.message);
    }
    throw error;
  }
}

/**
 * Looks up a program in the system's folders, then in the server's PATH: on many machines npm installs global packages
 * outside /usr.
 */
function locateProgram([program = '', ...rest]: readonly string[]): readonly string[] {
  if (program.includes('/') || findProgram(program, systemPath) !== undefined) {
    return [program, ...rest];
  }
  return [findProgram(program, process.env['PATH'] ?? '') ?? program, ...rest];
}

/** Resolves links, as npm makes for programs: a program's files are beside the target. */
async function realCommand(command: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    command.map(async (part) => (isAbsolute(part) ? realpath(part).catch(() => part) : part)),
  );
}

/** Paths that the sandbox must show: programs named by a full path, and for npm packages the whole node_modules. */
function programPaths(command: readonly string[]): readonly string[] {
  const paths = command
    .filter((part) => isAbsolute(part) && existsSync(part))
    .map((path) => {
      const at = path.indexOf('/node_modules/');
      return at === -1 ? path : path.slice(0, at + '/node_modules'.length);
    });
  return [...new Set(paths)].filter((path) => !isSystemPath(path));
}

function isSystemPath(path: string): boolean {
  return /^\/(usr|bin|sbin|lib|lib64)\//.test(path);
}
