import type { ContextTexts } from '../../domain/context.ts';
import type { LegContext } from '../../ports/harness.ts';
import type { AiSdkSettings } from './settings.ts';
import { submitSentence } from './tools/submit-output.ts';

/**
 * The system prompt: instructions, the session folder, and the texts of context files, CLAUDE.md and skills exactly as
 * the service announced them (`context_file_loaded` and so on).
 */
export function systemPrompt(
  { agent, settings, texts }: Pick<LegContext<AiSdkSettings>, 'agent' | 'settings' | 'texts'>,
  tools: ReadonlySet<string>,
): string {
  const instructions =
    settings.instructions.trim() || `You are ${agent.name}. ${agent.description}`.trim();
  const sections = [
    instructions,
    workspaceSection(tools),
    ...texts.files.map(contextSection),
    skillsSection(texts.skills, tools.has('read_file')),
    agent.output === undefined ? '' : submitSentence,
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function workspaceSection(tools: ReadonlySet<string>): string {
  const names = ['read_file', 'write_file', 'list_files', 'run_command'];
  if (!names.some((name) => tools.has(name))) return '';
  return [
    'You work in a folder of your own, the workspace; every path is relative to it.',
    'The files that the user attached are in files/. Put the files you make for the user into outputs/.',
  ].join('\n');
}

/** Marks the text as the content of a file: its author may not be the agent's. */
function contextSection({ path, text }: ContextTexts['files'][number]): string {
  return `<context_file path="${path}">\n${text}\n</context_file>`;
}

/** An agent that can read files reads a skill when it needs it; any other gets the whole text at once. */
function skillsSection(skills: ContextTexts['skills'], canRead: boolean): string {
  if (skills.length === 0) return '';
  const lines = skills.map(({ name, description, path }) => {
    const where = canRead ? ` (${path}/SKILL.md)` : '';
    return `- ${name}${where}: ${description}`;
  });
  if (canRead) {
    const heading = 'Skills. When one fits the task, read its SKILL.md first and follow it:';
    return [heading, ...lines].join('\n');
  }
  const texts = skills.map(
    ({ path, text }) => `<skill path="${path}/SKILL.md">\n${text}\n</skill>`,
  );
  return ['Skills. When one fits the task, follow it:', ...lines, ...texts].join('\n');
}
