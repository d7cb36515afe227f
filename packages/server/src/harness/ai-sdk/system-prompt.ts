import { openConfined } from '../../confined-fs/files.ts';
import type { LegContext } from '../../ports/harness.ts';
import { readContextFile } from '../../session-folders/context-files.ts';
import { readSkills } from '../../session-folders/skills.ts';
import type { AiSdkSettings } from './settings.ts';

const skillBytesMax = 256 * 1024;

/**
 * What the model is told before anything else. The service announces context files, CLAUDE.md and skills
 * (`context_file_loaded` and so on); here their text really reaches the model, as the workspace has it now.
 */
export async function systemPrompt(
  { agent, settings, sessionFolder }: LegContext<AiSdkSettings>,
  tools: ReadonlySet<string>,
): Promise<string> {
  const instructions =
    settings.instructions.trim() || `You are ${agent.name}. ${agent.description}`.trim();
  const paths = [...agent.contextFiles, ...(agent.enableClaudeMd ? ['CLAUDE.md'] : [])];
  const files = await Promise.all(paths.map((path) => contextSection(sessionFolder, path)));
  const sections = [
    instructions,
    workspaceSection(tools),
    ...files,
    await skillsSection({ agent, sessionFolder }, tools.has('read_file')),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function workspaceSection(tools: ReadonlySet<string>): string {
  const names = ['read_file', 'write_file', 'list_files', 'run_command'];
  if (!names.some((name) => tools.has(name))) return '';
  return [
    'You work in a folder of your own, the workspace; every path is relative to it.',
    'What the person gave you lies in files/. Put what you make for them into outputs/.',
  ].join('\n');
}

/** Marked as what it is: text of a file, whoever wrote it. */
async function contextSection(sessionFolder: string, path: string): Promise<string> {
  const read = await readContextFile(sessionFolder, path);
  return read.ok ? `<context_file path="${path}">\n${read.text}\n</context_file>` : '';
}

/** An agent that can read files reads a skill when it needs it; any other gets the whole text at once. */
async function skillsSection(
  { agent, sessionFolder }: Pick<LegContext, 'agent' | 'sessionFolder'>,
  canRead: boolean,
): Promise<string> {
  const { report } = await readSkills(agent);
  if (report === undefined || report.skills.length === 0) return '';
  const lines = report.skills.map(({ name, description, path }) => {
    const where = canRead ? ` (${path}/SKILL.md)` : '';
    return `- ${name}${where}: ${description}`;
  });
  const heading = canRead
    ? 'Skills. When one fits the task, read its SKILL.md first and do as it says:'
    : 'Skills. When one fits the task, do as it says:';
  if (canRead) return [heading, ...lines].join('\n');
  const texts = await Promise.all(
    report.skills.map(({ path }) => skillText(sessionFolder, `${path}/SKILL.md`)),
  );
  return [heading, ...lines, ...texts].join('\n');
}

async function skillText(sessionFolder: string, path: string): Promise<string> {
  const handle = await openConfined(sessionFolder, path);
  if (handle === undefined) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(skillBytesMax), 0);
    const text = buffer.subarray(0, bytesRead).toString('utf8');
    return `<skill path="${path}">\n${text}\n</skill>`;
  } finally {
    await handle.close();
  }
}
