import { chown, mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { resolveReferences } from '../../agents/secret-references.ts';
import { AgentFileError } from '../../confined-fs/agent-file.ts';
import { removeTree } from '../../confined-fs/remove-tree.ts';
import type { PreparedAgent, PreparingAgent } from '../../ports/harness.ts';
import { type Sandbox, SandboxUnavailable, type SandboxedProcess } from '../../ports/sandbox.ts';
import { insidePlaces } from '../../sandbox/file-system-view.ts';
import { type CompileCaches, cacheVariable } from './compile-cache.ts';
import { launchCommand } from './launch-command.ts';
import { endOfProgram } from '../stdio/ending.ts';
import { linesOf } from '../lines.ts';
import type { CodeSettings } from './settings.ts';
import { digestSources } from './source-digest.ts';

/** Far more than an import takes, also on a machine that is busy. */
const loadSeconds = 60;
const lineBytesMax = 64 * 1024;
/** Of a program in JavaScript that waits for nothing any more. */
const unsettledCode = 13;
const checked = z.object({
  type: z.literal('checked'),
  problem: z.string().nullable(),
  warnings: z.array(z.string()).default([]),
});

/** Where the program's compiled code is written while it is loaded, in its home. */
const cacheName = '.compile-cache';

export interface PrepareParts {
  readonly sandbox: Sandbox;
  readonly caches: CompileCaches;
}

/**
 * Loads an agent's program once in the sandbox, without a session (D-184): what is wrong with it is known before a
 * client invokes it, and its code is compiled. Where there is no sandbox, or a secret is missing, its runs say so; of a
 * secret its author is warned before.
 */
export async function prepareCode(
  parts: PrepareParts,
  agent: PreparingAgent<CodeSettings>,
): Promise<PreparedAgent> {
  try {
    const digest = await digestOf(agent);
    const loaded = await load(parts, agent);
    return 'problem' in loaded ? { ok: false, ...loaded } : { ok: true, digest, ...loaded };
  } catch (error) {
    if (error instanceof AgentFileError) return { ok: false, problem: error.message };
    throw error;
  }
}

type LoadResult =
  | Pick<Extract<PreparedAgent, { ok: false }>, 'problem' | 'isTransient'>
  | { readonly warnings: readonly string[] };

async function load(
  { sandbox, caches }: PrepareParts,
  agent: PreparingAgent<CodeSettings>,
): Promise<LoadResult> {
  const { folder, settings } = agent;
  const resolved = await resolveReferences(settings.env);
  if (!resolved.ok) return { warnings: [`its program was not started: ${resolved.message}`] };
  // Without walls nothing would be read-only for sessions.
  const { level } = await sandbox.describe();
  const hasWalls = level === 'bwrap' && settings.sandbox.mode !== 'none';
  await mkdir(sandbox.folder, { recursive: true, mode: 0o700 });
  const scratch = await mkdtemp(join(sandbox.folder, 'prepare-'));
  try {
    const cache = join(insidePlaces.home, cacheName);
    const env = { ...(hasWalls && cacheVariable(settings.entry, cache)), ...resolved.values };
    const child = await start(sandbox, { agent, scratch, env });
    const loaded = await loadedBy(child, settings);
    if ('problem' in loaded) return { ...loaded, problem: resolved.redact(loaded.problem) };
    if (hasWalls) await caches.takeOver(folder, join(scratch, 'home', cacheName));
    return { warnings: loaded.warnings.map((text) => resolved.redact(text)) };
  } catch (error) {
    if (error instanceof SandboxUnavailable) return { warnings: [] };
    throw error;
  } finally {
    await removeTree(scratch);
  }
}

interface Loading {
  readonly agent: PreparingAgent<CodeSettings>;
  /** An empty folder, which becomes the session folder and the home. */
  readonly scratch: string;
  readonly env: Readonly<Record<string, string>>;
}

async function start(
  sandbox: Sandbox,
  { agent: { name, folder, settings }, scratch, env }: Loading,
): Promise<SandboxedProcess> {
  const [sessionFolder, home] = [join(scratch, 'workspace'), join(scratch, 'home')];
  const { account } = sandbox;
  for (const path of [sessionFolder, home]) {
    await mkdir(path, { mode: 0o700 });
    if (account !== undefined) await chown(path, account.uid, account.gid);
  }
  const { command, readOnly } = launchCommand(settings, ['--check', `agents/${name}`]);
  const limits = { ...settings.limits, seconds: loadSeconds };
  const folders = { sessionFolder, home, folder, readOnly };
  return sandbox.spawn(command, { ...folders, ...settings.sandbox, limits, env });
}

async function loadedBy(child: SandboxedProcess, settings: CodeSettings): Promise<LoadResult> {
  try {
    for await (const { text } of linesOf(child.stdout, lineBytesMax)) {
      const { problem, warnings } = checked.parse(JSON.parse(text));
      return problem === null ? { warnings } : { problem };
    }
  } finally {
    await child.kill();
  }
  const exit = await child.exited;
  if (!exit.started) return { warnings: [] };
  if (exit.timedOut) {
    const problem = `${settings.entry} took more than ${loadSeconds} s to load. The server tries again later, and when the folder changes.`;
    return { problem, isTransient: true };
  }
  if (exit.code === 0 || exit.code === unsettledCode) {
    const why = 'it exits, or waits for something that never happens';
    return { problem: `${settings.entry} ended while it was being loaded: ${why}` };
  }
  const end = endOfProgram(exit, settings, { errors: child.errorOutput(), hasAsked: false });
  return { problem: end.outcome === 'error' ? end.message : end.outcome };
}

async function digestOf({ folder, settings }: PreparingAgent<CodeSettings>): Promise<string> {
  const { entry } = settings;
  return digestSources(folder, [entry, ...(await besideOf(entry, folder))]);
}

/** The files beside the entry that decide what the program does. A module in Python may be in any of them. */
async function besideOf(entry: string, folder: string): Promise<readonly string[]> {
  if (!entry.endsWith('.py')) return ['package.json', 'package-lock.json'];
  const names = await readdir(folder).catch((): string[] => []);
  const modules = names.filter((name) => name.endsWith('.py') && name !== entry).sort();
  return ['pyproject.toml', 'requirements.txt', 'uv.lock', ...modules];
}
