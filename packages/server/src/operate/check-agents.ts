import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ReadAgent, readAgentFolder } from '../agents/agent-folder.ts';
import { scanFolder } from '../agents/folder-scan.ts';
import { readPrices } from '../agents/prices-file.ts';
import { listFolders } from '../agents/registry.ts';
import type { Config } from '../config/config.ts';
import { noPrices } from '../domain/usage/prices.ts';
import { type OpenHarnesses, withHarnesses } from './with-harnesses.ts';

/** What a server makes of an agent's folder. */
export type CheckedAgent = {
  readonly name: string;
  /** Absent where `agent.yaml` does not say so much. */
  readonly framework?: string;
} & (
  | { readonly ok: true; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problem: string }
);

/**
 * Reads the folder of one agent, or all of them, exactly as a server with these settings does (D-184). Undefined: there
 * is no such folder.
 */
export async function checkAgents(
  config: Config,
  name?: string,
): Promise<readonly CheckedAgent[] | undefined> {
  const names = name === undefined ? await listFolders(config.agentsDir) : [name];
  if (names === undefined) return undefined;
  return withHarnesses(config, async (open) => {
    const checked: CheckedAgent[] = [];
    // One after the other: loading a program takes a processor for itself.
    for (const each of names) {
      const read = await readAgent(config, open, each);
      if (read !== undefined) checked.push(await checkedAgent(open, each, read));
    }
    return checked.length === 0 && name !== undefined ? undefined : checked;
  });
}

async function checkedAgent(
  open: OpenHarnesses,
  name: string,
  read: ReadAgent,
): Promise<CheckedAgent> {
  if (!read.ok) {
    const { reason, framework } = read;
    return { name, ...(framework !== undefined && { framework }), ok: false, problem: reason };
  }
  const { framework } = read.agent;
  const unloaded = await notLoaded(open, framework);
  const warnings = [...read.warnings, ...(unloaded === undefined ? [] : [unloaded])];
  return { name, framework, ok: true, warnings };
}

/** Reads an agent's folder as the registry of a server does. Undefined: there is none. */
export async function readAgent(
  { agentsDir, pricesFile }: Pick<Config, 'agentsDir' | 'pricesFile'>,
  { harnesses }: Pick<OpenHarnesses, 'harnesses'>,
  name: string,
): Promise<ReadAgent | undefined> {
  const path = join(agentsDir, name);
  if (!(await isFolder(path))) return undefined;
  const { folder, problem } = await scanFolder(path);
  if (problem !== undefined) return { ok: false, reason: problem };
  const prices = await readPrices(pricesFile).catch(() => noPrices);
  return readAgentFolder({ folder, name, harnesses, prices });
}

/** A program is loaded in the sandbox only: without one its mistakes are not found. */
async function notLoaded(
  { harnesses, sandbox }: OpenHarnesses,
  framework: string,
): Promise<string | undefined> {
  if (harnesses.get(framework)?.runsPrograms !== true) return undefined;
  const { level, problems } = await sandbox.describe();
  if (level !== 'nothing') return undefined;
  return `its program was not started: ${problems[0] ?? 'the sandbox cannot be used here'}`;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
