import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { printable } from '@convoke/faces/printable';
import { remark } from '../../../terminal/output.ts';
import { problemOf } from './problem.ts';

/** A change of a further file is noticed when the server can load the agent again. */
const filesMax = 2000;

/** Prints why a server does not load an agent, and again when an edit leaves it another reason (D-356). */
export class LoadProblems {
  readonly #agent: string;
  #files = '';
  #reported: string | undefined;

  constructor(agent: string) {
    this.#agent = agent;
  }

  async report(): Promise<void> {
    this.#files = await filesOf(this.#agent);
    this.#print((await problemOf(this.#agent)) ?? 'there is no such agent');
  }

  /** Loading a program takes a second, so it is only done when a file of the agent has changed. */
  async reportChanged(): Promise<void> {
    const files = await filesOf(this.#agent);
    if (files === this.#files) return;
    this.#files = files;
    const problem = await problemOf(this.#agent);
    if (problem !== undefined && problem !== this.#reported) this.#print(problem);
  }

  #print(problem: string): void {
    this.#reported = problem;
    remark(printable(`the agent "${this.#agent}" is not loaded: ${problem}`), 'red');
  }
}

/** The files that an author edits, with the time of their last change. Packages are recognized by their folder. */
async function filesOf(agent: string): Promise<string> {
  const folder = join(process.env['CONVOKE_AGENTS_DIR'] ?? 'agents', agent);
  const own = await readdir(folder).catch(() => []);
  const sources = await readdir(join(folder, 'src'), { recursive: true }).catch(() => []);
  const names = [...own, ...sources.map((name) => join('src', name))].slice(0, filesMax);
  const times = names.map(async (name) => {
    const found = await stat(join(folder, name)).catch(() => undefined);
    return `${name} ${found?.mtimeMs} ${found?.size}`;
  });
  return (await Promise.all(times)).join('\n');
}
