import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import { Failure } from '../../../failure.ts';
import { globalOptions } from '../../../options/global-options.ts';
import { print, printJson } from '../../../terminal/output.ts';
import { type TemplateName, agentTemplates } from './templates.ts';

const namePattern = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** `convoke agents new`: writes the folder of an agent to start from. */
export async function createAgent(
  name: string,
  template: TemplateName,
  command: Command,
): Promise<void> {
  if (!namePattern.test(name)) {
    throw new Failure(
      `"${name}" cannot be an agent's name: use 1 to 64 characters of a-z, 0-9 and -`,
    );
  }
  const folder = join(process.env['CONVOKE_AGENTS_DIR'] ?? 'agents', name);
  const { files: filesOf, test } = agentTemplates[template];
  const files = filesOf(name);
  await writeFiles(folder, files);
  const shown = relative(process.cwd(), folder) || '.';
  if (globalOptions(command).json) return printJson({ folder, files: Object.keys(files) });
  print(`Wrote ${shown}: ${Object.keys(files).join(', ')}`);
  print('\nTry it here, without a server:');
  print(`  npx convoke agents rehearse ${name} "Hello"`);
  print('Invoke it, with a server that reads this folder (npm start, or npx convoke dev):');
  print(`  npx convoke invoke ${name} "Hello"`);
  print('Test it, also with its process lost at every moment:');
  print(`  cd ${shown} && ${typeof test === 'string' ? test : test(folder)}`);
}

/** Replaces nothing: a folder of that name is an agent already. */
async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(folder, '..'), { recursive: true });
  try {
    await mkdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Failure(`${folder} exists already: choose another name, or remove it`);
  }
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
}
