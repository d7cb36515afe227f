import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { AgentFileError, readAgentFile } from '../confined-fs/agent-file.ts';

/** Entry of `skills/` that may hold a skill. */
export type SkillEntry = 'directory' | 'link';

const frontmatter = z.looseObject({
  name: z.unknown().optional(),
  description: z.unknown().optional(),
});

/** What the Agent Skills format allows as a name. */
const skillNamePattern = /^[a-z0-9-]{1,64}$/;

/** Reads SKILL.md of a valid skill; throws an `AgentFileError` that names the rule a skill breaks. */
export async function readSkill(
  folder: string,
  directory: string,
  entry: SkillEntry | undefined,
): Promise<{ readonly description: string; readonly text: string }> {
  if (entry === undefined)
    throw new AgentFileError('agent.yaml names this skill, but there is no such directory');
  if (entry === 'link') throw new AgentFileError('is a link: put the skill itself here');
  if (!skillNamePattern.test(directory)) {
    throw new AgentFileError('the name of its directory must be 1 to 64 of a-z, 0-9 and "-"');
  }
  const text = await readAgentFile(folder, `skills/${directory}/SKILL.md`);
  if (text === undefined) throw new AgentFileError('SKILL.md is missing');
  const { name, description } = readFrontmatter(text);
  if (name !== directory) {
    throw new AgentFileError(`name in SKILL.md must be the name of its directory, "${directory}"`);
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new AgentFileError(
      'description in SKILL.md is missing: say what the skill does and when to use it',
    );
  }
  if (description.length > 1024) {
    throw new AgentFileError(
      `description in SKILL.md has ${description.length} characters: at most 1024 fit`,
    );
  }
  return { description, text };
}

function readFrontmatter(text: string): z.infer<typeof frontmatter> {
  const [opening = ''] = /^\uFEFF?---[ \t]*\r?\n/.exec(text) ?? [];
  const rest = text.slice(opening.length);
  const end = rest.search(/^---[ \t]*\r?$/m);
  if (opening === '' || end === -1) {
    throw new AgentFileError(
      'SKILL.md must begin with name and description between two lines of "---"',
    );
  }
  const lines = new LineCounter();
  const document = parseDocument(rest.slice(0, end), { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    // The block starts one line below the first "---".
    throw new AgentFileError(`SKILL.md:${lines.linePos(error.pos[0]).line + 1}: ${error.message}`);
  }
  const parsed = frontmatter.safeParse(readAliases(() => document.toJS({ maxAliasCount: 0 })));
  if (!parsed.success)
    throw new AgentFileError('SKILL.md must name name and description at its top');
  return parsed.data;
}

function readAliases(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    throw new AgentFileError('SKILL.md must not use aliases at its top', { cause: error });
  }
}
