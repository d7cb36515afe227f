import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { FolderFault, readFolderFile } from '../confined-fs/agent-file.ts';
import {
  Confined,
  type WriteOptions,
  removeConfined,
  removeFolderConfined,
  writeConfined,
} from '../confined-fs/files.ts';
import type { Agent } from '../domain/agent.ts';
import type { SkillsReport } from '../domain/context.ts';
import { hasCode } from '../runtime/error-code.ts';
import { type SourceFile, copyOf, sourceFiles } from './source-files.ts';

const skillsMax = 200;
/** Runtimes look in one place or the other; both get every skill. */
const mirrors = ['.agents/skills', '.claude/skills'] as const;

export interface AgentSkills {
  /** Absent when the agent has no `skills/` or asks for none. */
  readonly report: SkillsReport | undefined;
  /** Of the good ones, by their path below `skills/`. */
  readonly files: readonly SourceFile[];
}

/** Reads the skills of an agent's folder (agentskills.io); what cannot be used is told, not thrown. */
export async function readSkills(agent: Agent): Promise<AgentSkills> {
  if (agent.skills === 'none') return { report: undefined, files: [] };
  const found = await directoriesOf(join(agent.folder, 'skills'));
  if (found === undefined && agent.skills === 'all') return { report: undefined, files: [] };
  const names = agent.skills === 'all' ? [...(found?.keys() ?? [])] : [...new Set(agent.skills)];
  const skills: SkillsReport['skills'][number][] = [];
  const warnings: SkillsReport['warnings'][number][] = [];
  const files: SourceFile[] = [];
  for (const name of names.sort()) {
    const directory = `skills/${name}`;
    try {
      if (skills.length >= skillsMax)
        throw new FolderFault(`is one of more than ${skillsMax} skills`);
      const description = await describe(agent.folder, name, found?.get(name));
      skills.push({ name, description, path: `${mirrors[0]}/${name}` });
      for (const file of await sourceFiles(join(agent.folder, directory))) {
        files.push({ ...file, path: `${name}/${file.path}` });
      }
    } catch (error) {
      if (!(error instanceof FolderFault)) throw error;
      warnings.push({ directory, reason: error.message });
    }
  }
  return { report: { skills, warnings }, files };
}

/** Writes what changed since `known` into both mirrors and takes away what is gone. */
export async function mirrorSkills(
  root: string,
  files: readonly SourceFile[],
  known: Map<string, string>,
): Promise<boolean> {
  let changed = false;
  const current = new Set<string>();
  for (const file of files) {
    current.add(file.path);
    if (known.get(file.path) === file.sha256) continue;
    changed = true;
    const copied = await copyToMirrors(root, file);
    if (copied !== undefined) known.set(file.path, copied);
  }
  for (const path of known.keys()) {
    if (current.has(path)) continue;
    changed = true;
    known.delete(path);
    for (const mirror of mirrors) await removeWithFolders(root, mirror, path);
  }
  return changed;
}

/** The digest of what was copied; `undefined` when the source is gone, which a later reading of the agent will tell. */
async function copyToMirrors(root: string, file: SourceFile): Promise<string | undefined> {
  let copied: string | undefined;
  for (const mirror of mirrors) {
    const hash = createHash('sha256');
    const options: WriteOptions = { reclaim: 'everything', executable: file.executable };
    try {
      await writeConfined(
        { root, path: `${mirror}/${file.path}` },
        copyOf(file.source, hash),
        options,
      );
    } catch (error) {
      if (error instanceof Confined && error.code === 'ENOENT') return undefined;
      throw error;
    }
    copied = hash.digest('hex');
  }
  return copied;
}

async function removeWithFolders(root: string, mirror: string, path: string): Promise<void> {
  await removeConfined(root, `${mirror}/${path}`);
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
    await removeFolderConfined(root, `${mirror}/${folder}`);
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

type Kind = 'directory' | 'link';

async function directoriesOf(folder: string): Promise<ReadonlyMap<string, Kind> | undefined> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  if (entries === undefined) return undefined;
  const directories = new Map<string, Kind>();
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) directories.set(entry.name, 'directory');
    if (entry.isSymbolicLink()) directories.set(entry.name, 'link');
  }
  return directories;
}

const frontmatter = z.looseObject({
  name: z.unknown().optional(),
  description: z.unknown().optional(),
});

/** The description of a skill that follows the rules; a `FolderFault` says which one it breaks. */
async function describe(
  folder: string,
  directory: string,
  kind: Kind | undefined,
): Promise<string> {
  if (kind === undefined)
    throw new FolderFault('agent.yaml names this skill, but there is no such directory');
  if (kind === 'link') throw new FolderFault('is a link: put the skill itself here');
  if (!/^[a-z0-9-]{1,64}$/.test(directory)) {
    throw new FolderFault('the name of its directory must be 1 to 64 of a-z, 0-9 and "-"');
  }
  const text = await readFolderFile(folder, `skills/${directory}/SKILL.md`);
  if (text === undefined) throw new FolderFault('SKILL.md is missing');
  const { name, description } = readFrontmatter(text);
  if (name !== directory) {
    throw new FolderFault(`name in SKILL.md must be the name of its directory, "${directory}"`);
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new FolderFault(
      'description in SKILL.md is missing: say what the skill does and when to use it',
    );
  }
  if (description.length > 1024) {
    throw new FolderFault(
      `description in SKILL.md has ${description.length} characters: at most 1024 fit`,
    );
  }
  return description;
}

function readFrontmatter(text: string): z.infer<typeof frontmatter> {
  const [opening = ''] = /^\uFEFF?---[ \t]*\r?\n/.exec(text) ?? [];
  const rest = text.slice(opening.length);
  const end = rest.search(/^---[ \t]*\r?$/m);
  if (opening === '' || end === -1) {
    throw new FolderFault(
      'SKILL.md must begin with name and description between two lines of "---"',
    );
  }
  const lines = new LineCounter();
  const document = parseDocument(rest.slice(0, end), { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    // One line further down than in the block: the first "---" stands above it.
    throw new FolderFault(`SKILL.md:${lines.linePos(error.pos[0]).line + 1}: ${error.message}`);
  }
  const parsed = frontmatter.safeParse(readAliases(() => document.toJS({ maxAliasCount: 0 })));
  if (!parsed.success) throw new FolderFault('SKILL.md must name name and description at its top');
  return parsed.data;
}

function readAliases(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    throw new FolderFault('SKILL.md must not use aliases at its top', { cause: error });
  }
}
