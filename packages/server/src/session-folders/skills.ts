import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentFileError } from '../confined-fs/agent-file.ts';
import { removeConfined, removeFolderConfined } from '../confined-fs/files.ts';
import type { Agent } from '../domain/agent.ts';
import type { ContextTexts, SkillsReport } from '../domain/context.ts';
import { hasCode } from '../runtime/error-code.ts';
import { copySource, mirrorFiles } from './mirror-files.ts';
import { type SkillEntry, readSkill } from './skill-description.ts';
import { type SourceFile, sourceFiles } from './source-files.ts';

const skillsMax = 200;
/** Runtimes read one folder or the other, so every skill is copied into both. */
const mirrors = ['.agents/skills', '.claude/skills'] as const;

export interface AgentSkills {
  /** Absent when the agent has no `skills/` or asks for none. */
  readonly report: SkillsReport | undefined;
  /** SKILL.md of the valid skills, in the order of the report. */
  readonly texts: ContextTexts['skills'];
  /** Files of the valid skills, by their path below `skills/`. */
  readonly files: readonly SourceFile[];
}

/** Reads the skills of an agent's folder (agentskills.io). An invalid skill becomes a warning in the report. */
export async function readSkills(agent: Agent): Promise<AgentSkills> {
  if (agent.skills === 'none') return { report: undefined, texts: [], files: [] };
  const found = await entriesOf(join(agent.folder, 'skills'));
  if (found === undefined && agent.skills === 'all')
    return { report: undefined, texts: [], files: [] };
  const names = agent.skills === 'all' ? [...(found?.keys() ?? [])] : [...new Set(agent.skills)];
  const skills: SkillsReport['skills'][number][] = [];
  const texts: ContextTexts['skills'][number][] = [];
  const warnings: SkillsReport['warnings'][number][] = [];
  const files: SourceFile[] = [];
  for (const name of names.sort()) {
    const directory = `skills/${name}`;
    try {
      if (skills.length >= skillsMax)
        throw new AgentFileError(`is one of more than ${skillsMax} skills`);
      const { description, text } = await readSkill(agent.folder, name, found?.get(name));
      const skill = { name, description, path: `${mirrors[0]}/${name}` };
      skills.push(skill);
      texts.push({ ...skill, text });
      for (const file of await sourceFiles(join(agent.folder, directory))) {
        files.push({ ...file, path: `${name}/${file.path}` });
      }
    } catch (error) {
      if (!(error instanceof AgentFileError)) throw error;
      warnings.push({ directory, reason: error.message });
    }
  }
  return { report: { skills, warnings }, texts, files };
}

/** Copies the files of skills into both mirrors. `known` holds their digests. Returns whether `known` changed. */
export async function mirrorSkills(
  root: string,
  files: readonly SourceFile[],
  known: Map<string, string>,
): Promise<boolean> {
  return mirrorFiles(files, known, {
    copy: (file) => copyToMirrors(root, file),
    remove: async (path) => {
      for (const mirror of mirrors) await removeWithFolders(root, mirror, path);
    },
  });
}

async function copyToMirrors(root: string, file: SourceFile): Promise<string | undefined> {
  let copied: string | undefined;
  for (const mirror of mirrors) {
    const target = { root, path: `${mirror}/${file.path}` };
    copied = await copySource(file, target, { reclaim: 'everything' });
    if (copied === undefined) return undefined;
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

async function entriesOf(folder: string): Promise<ReadonlyMap<string, SkillEntry> | undefined> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  if (entries === undefined) return undefined;
  const found = new Map<string, SkillEntry>();
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) found.set(entry.name, 'directory');
    if (entry.isSymbolicLink()) found.set(entry.name, 'link');
  }
  return found;
}
