import { createHash } from 'node:crypto';
import { chown, mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { resolveReferences } from '../../agents/secret-references.ts';
import type { PreparedAgent, PreparingAgent } from '../../ports/harness.ts';
import { type Sandbox, SandboxUnavailable, type SandboxedProcess } from '../../ports/sandbox.ts';
import { launchOf } from './code.ts';
import { endOfProgram } from './ending.ts';
import { linesOf } from './lines.ts';
import type { CodeSettings } from './settings.ts';

/** Far more than an import takes, also on a machine that is busy. */
const loadSeconds = 60;
const lineBytesMax = 64 * 1024;
const checked = z.object({ type: z.literal('checked'), problem: z.string().nullable() });

/**
 * Loads an agent's program once in the sandbox, without a session (D-184): what is wrong with it is known before a client
 * invokes it. Where there is no sandbox, or a secret is missing, its runs say so.
 */
export async function prepareCode(
  sandbox: Sandbox,
  agent: PreparingAgent<CodeSettings>,
): Promise<PreparedAgent> {
  const digest = await digestOf(agent);
  const resolved = await resolveReferences(agent.settings.env);
  if (!resolved.ok) return { ok: true, digest };
  const place = await mkdtemp(join(tmpdir(), 'convoke-prepare-'));
  try {
    const child = await start(sandbox, { agent, place, env: resolved.values });
    const problem = resolved.redact((await problemOf(child, agent.settings)) ?? '');
    return problem === '' ? { ok: true, digest } : { ok: false, problem };
  } catch (error) {
    if (error instanceof SandboxUnavailable) return { ok: true, digest };
    throw error;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

interface Loading {
  readonly agent: PreparingAgent<CodeSettings>;
  /** An empty folder, which becomes the session folder and the home. */
  readonly place: string;
  readonly env: Readonly<Record<string, string>>;
}

async function start(
  sandbox: Sandbox,
  { agent: { name, folder, settings }, place, env }: Loading,
): Promise<SandboxedProcess> {
  const [sessionFolder, home] = [join(place, 'workspace'), join(place, 'home')];
  const { account } = sandbox;
  for (const path of [sessionFolder, home]) {
    await mkdir(path, { mode: 0o700 });
    if (account !== undefined) await chown(path, account.uid, account.gid);
  }
  const { command, readOnly } = launchOf(settings, ['--check', `agents/${name}`]);
  const limits = { ...settings.limits, seconds: loadSeconds };
  const folders = { sessionFolder, home, folder, readOnly };
  return sandbox.spawn(command, { ...folders, ...settings.sandbox, limits, env });
}

async function problemOf(
  child: SandboxedProcess,
  settings: CodeSettings,
): Promise<string | undefined> {
  try {
    for await (const { text } of linesOf(child.stdout, lineBytesMax)) {
      return checked.parse(JSON.parse(text)).problem ?? undefined;
    }
  } finally {
    await child.kill();
  }
  const exit = await child.exited;
  if (!exit.started) return undefined;
  if (exit.timedOut) return `${settings.entry} takes more than ${loadSeconds} s to load`;
  const end = endOfProgram(exit, settings, { errors: child.errorOutput(), hasAsked: false });
  return end.outcome === 'error' ? end.message : `${settings.entry} ended while it was loaded`;
}

/** Identifies the code of an agent: a leg compares it with that of the leg before, to see whether the author edited it. */
async function digestOf({ folder, settings }: PreparingAgent<CodeSettings>): Promise<string> {
  const hash = createHash('sha256');
  const below = await readdir(join(folder, 'src'), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  const sources = below
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
  const own = [settings.entry, 'package.json', 'package-lock.json'].map((name) =>
    join(folder, name),
  );
  for (const path of [...own, ...sources]) {
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes !== undefined)
      hash.update(`${path.slice(folder.length)} ${bytes.length}\0`).update(bytes);
  }
  return hash.digest('base64url');
}
