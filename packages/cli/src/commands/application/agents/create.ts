import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import { exitCodes, Failure } from '../../../failure.ts';
import { globalOptions } from '../../../options/global-options.ts';
import { print, printJson, remark } from '../../../terminal/output.ts';
import type { Template } from './template.ts';
import { type TemplateName, agentTemplates } from './templates.ts';

const namePattern = /^[a-z0-9][a-z0-9-]{0,63}$/;

export interface NewAgentOptions {
  readonly template: TemplateName;
  /** False with --no-install. */
  readonly install: boolean;
}

/** `convoke agents new`: writes the folder of an agent to start from, and installs the packages it needs. */
export async function createAgent(
  name: string,
  { template, install }: NewAgentOptions,
  command: Command,
): Promise<void> {
  if (!namePattern.test(name)) {
    throw new Failure(
      `"${name}" cannot be an agent's name: use 1 to 64 characters of a-z, 0-9 and -`,
    );
  }
  const folder = join(process.env['CONVOKE_AGENTS_DIR'] ?? 'agents', name);
  const { files: filesOf, test, needs }: Template = agentTemplates[template];
  const files = filesOf(name);
  await writeFiles(folder, files);
  const shown = relative(process.cwd(), folder) || '.';
  const { json = false } = globalOptions(command);
  if (!json) print(`Wrote ${shown}: ${Object.keys(files).join(', ')}`);
  const isInstalled = needs === undefined || (install && (await installPackages(folder)));
  if (json) return printJson({ folder, files: Object.keys(files), installed: isInstalled });
  if (!isInstalled) {
    print('\nInstall its packages first:');
    print(`  (cd ${shown} && npm install)`);
  }
  if (needs !== undefined) {
    print('\nIts model needs a key, here and in the environment of the server:');
    print(`  export ${needs.variable}=…`);
  }
  print('\nTry it here, without a server:');
  print(`  npx convoke agents rehearse ${name} "Hello"`);
  print('With a server (npm start, or npx convoke dev), invoke it after each change:');
  print(`  npx convoke invoke ${name} "Hello" --watch`);
  print('Test it:');
  print(`  ${test?.(name) ?? `npx convoke agents test ${name}`}`);
}

/**
 * Shows the output of npm, and returns whether it could run: offline, or without npm, the folder is whole anyway
 * (D-451). Ctrl-C ends npm. Where the shell's Node is too old, npm would otherwise continue in the background: then the
 * command has a process group of its own.
 */
async function installPackages(folder: string): Promise<boolean> {
  remark('Installing its packages (npm install)', 'dim');
  const interrupt = () => {
    process.exitCode = exitCodes.interrupted;
    child.kill('SIGTERM');
  };
  process.once('SIGINT', interrupt);
  const child = spawn('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', process.stderr, process.stderr],
  });
  return new Promise<boolean>((resolve) => {
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  }).finally(() => process.off('SIGINT', interrupt));
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
