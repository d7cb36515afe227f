import { join } from 'node:path';
import { expect } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { createCommandLine } from './command-line.ts';

interface Report {
  readonly text: string;
  readonly kill: { readonly runs: number; readonly lost: number; readonly problems: object[] };
}

/** Agents as `convoke agents new` writes them, to be killed at every line in the sandbox. */
export interface Templates extends AsyncDisposable {
  /** Returns the folder of the new agent. */
  create(name: string, template: string): Promise<string>;
  /** `convoke agents rehearse --kill`, in which a person allows everything. */
  kill(name: string, prompt: string, more?: KillMore): Promise<Report>;
}

interface KillMore {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function openTemplates(): Promise<Templates> {
  const folder = await openProgramFolder(root);
  const convoke = await createCommandLine(folder.path);
  return {
    async create(name, template) {
      const args = ['agents', 'new', name, '--template', template, '--no-install'];
      const ended = await convoke.run(args);
      expect(ended).toEqual({ ...ended, code: 0 });
      return join(folder.path, 'agents', name);
    },
    async kill(name, prompt, { args = [], env = {} } = {}) {
      const command = ['agents', 'rehearse', name, prompt, '--approve', 'allow', '--kill'];
      const ended = await convoke.run([...command, ...args, '--json'], { env });
      expect(ended).toEqual({ ...ended, stderr: '', code: 0 });
      return JSON.parse(ended.stdout) as Report;
    },
    async [Symbol.asyncDispose]() {
      await convoke.remove();
      await folder[Symbol.asyncDispose]();
    },
  };
}
