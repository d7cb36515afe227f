// Executes a Dockerfile in folders of this machine, for machines without Docker. It knows the instructions that
// deploy/Dockerfile uses, and leaves out what changes the system itself.
import { execFileSync } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface Stage {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The arguments of instructions that say how the image is used, by their names. */
  readonly says: ReadonlyMap<string, string>;
}

export interface Building {
  readonly text: string;
  /** The build context: the repository. */
  readonly context: string;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

const systemCommands = /^(apt-get|ln) /;

/** The last stage. */
export async function buildStages({ text, context, folder, env }: Building): Promise<Stage> {
  const stages = new Map<string, Stage>();
  let stage: { folder: string; env: Record<string, string>; says: Map<string, string> } | undefined;
  let workdir = '/';
  for (const { instruction, rest } of instructionsOf(text)) {
    if (instruction === 'FROM') {
      const [base = '', , name = `stage-${stages.size}`] = rest.split(/\s+/);
      stage = { folder: join(folder, name), env: {}, says: new Map() };
      await mkdir(stage.folder);
      const known = stages.get(base);
      if (known !== undefined) await cp(known.folder, stage.folder, copying);
      stages.set(name, stage);
      continue;
    }
    if (stage === undefined) throw new Error(`${instruction} before FROM`);
    const here = join(stage.folder, workdir);
    switch (instruction) {
      case 'WORKDIR':
        workdir = rest;
        await mkdir(join(stage.folder, rest), { recursive: true });
        break;
      case 'COPY':
        await copy(rest, { here, context, stages, root: stage.folder });
        break;
      case 'RUN':
        if (systemCommands.test(rest)) break;
        execFileSync('sh', ['-ec', rest], { cwd: here, env, stdio: 'pipe' });
        break;
      case 'ENV':
        for (const pair of rest.split(/\s+/)) {
          const [name = '', value = ''] = pair.split('=');
          stage.env[name] = value;
        }
        break;
      default:
        stage.says.set(instruction, rest);
    }
  }
  if (stage === undefined) throw new Error('no stage');
  return stage;
}

function instructionsOf(text: string): { instruction: string; rest: string }[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, instruction = '', rest = ''] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
      return { instruction, rest: rest.trim() };
    });
}

const copying = { recursive: true, verbatimSymlinks: true } as const;

interface Copying {
  readonly here: string;
  readonly context: string;
  readonly root: string;
  readonly stages: ReadonlyMap<string, Stage>;
}

/** As `.dockerignore` has it, nothing that was installed or made comes along. */
async function copy(words: string, { here, context, root, stages }: Copying): Promise<void> {
  const [, from, paths = ''] = /^(?:--from=(\S+)\s+)?(.+)$/.exec(words) ?? [];
  const sources = paths.split(/\s+/);
  const target = sources.pop() ?? '';
  const place = target.startsWith('/') ? join(root, target) : join(here, target);
  const stage = from === undefined ? undefined : stages.get(from);
  if (from !== undefined && stage === undefined) throw new Error(`no stage ${from}`);
  const filter = stage === undefined ? (path: string) => !leftOut.test(path) : () => true;
  for (const source of sources) {
    const path = join(stage?.folder ?? context, source);
    const to = target.endsWith('/') ? join(place, basename(source)) : place;
    await mkdir(dirname(to), { recursive: true });
    await cp(path, to, { ...copying, filter });
  }
}

const leftOut = /\/(node_modules|\.cache|\.convoke|packages\/[^/]+\/test)(\/|$)/;
