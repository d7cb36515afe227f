// The workflows name commands, packages and files of this repository. GitHub runs them, so no test here can; these hold
// that what they name exists.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { publishedPackages } from '../scripts/published-packages.mjs';
import { files, root, textOf } from './repository.ts';

const permissions = z.record(z.string(), z.enum(['read', 'write', 'none']));
const step = z.strictObject({
  id: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const job = z.looseObject({
  uses: z.string().optional(),
  needs: z.union([z.string(), z.array(z.string())]).optional(),
  permissions: permissions.optional(),
  'timeout-minutes': z.number().optional(),
  strategy: z.looseObject({ matrix: z.record(z.string(), z.array(z.string())) }).optional(),
  steps: z.array(step).default([]),
});
const workflow = z.looseObject({ permissions, jobs: z.record(z.string(), job) });

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(textOf('package.json')));
const paths = files(/^\.github\/workflows\//);
const workflows = paths.map((path) => [path, workflow.parse(parse(textOf(path)))] as const);

/** What a line of shell starts, and a problem with it if the repository does not have it. */
function problemWith(command: string): string | undefined {
  const [program = '', ...words] = command.replace(/^(\w+=\S+ )*/, '').split(/\s+/);
  const [first = ''] = words;
  if (program === 'npm' && first === 'run') return has(scripts, words[1]);
  if (program === 'npm') return has({ ci: '', publish: '', sbom: '', test: '' }, first);
  if (program === 'node') return words.slice(0, 2).find(isMissingFile);
  if (program.includes('/')) return isMissingFile(program) ? program : undefined;
  return has({ 'apt-get': '', gh: '', git: '', tar: '' }, program);
}

function has(known: object, name = ''): string | undefined {
  return Object.hasOwn(known, name) ? undefined : `there is no ${name}`;
}

function isMissingFile(word: string): boolean {
  return word.includes('/') && !existsSync(join(root, word));
}

/** The commands of a step: of a loop, the one inside. */
function commandsOf(run: string, matrix: Readonly<Record<string, readonly string[]>>): string[] {
  const [, name = ''] = /^\$\{\{ matrix\.(\w+) \}\}$/.exec(run) ?? [];
  const lines = matrix[name] ?? run.split('\n');
  return lines.map((line) => /^for .*; do (.*); done$/.exec(line)?.[1] ?? line).filter(Boolean);
}

function jobsOf(name: string) {
  return workflow.parse(parse(textOf(`.github/workflows/${name}`))).jobs;
}

test('there is one for every change, one for the docs, one for every night and one for a release', () => {
  expect(paths.map((path) => path.split('/').at(-1))).toEqual([
    'ci.yml',
    'docs.yml',
    'nightly.yml',
    'release.yml',
  ]);
});

describe.each(workflows)('%s', (path, { permissions: given, jobs }) => {
  const steps = Object.values(jobs).flatMap((each) => each.steps);

  test('runs only what the repository has', () => {
    const commands = Object.values(jobs).flatMap(({ steps: own, strategy }) =>
      own.flatMap(({ run }) => (run === undefined ? [] : commandsOf(run, strategy?.matrix ?? {}))),
    );
    for (const command of commands)
      expect([command, problemWith(command)]).toEqual([command, undefined]);
    for (const { file } of steps.map(({ with: inputs = {} }) => inputs)) {
      if (typeof file === 'string') expect(files(/^deploy\//)).toContain(file);
    }
    const called = Object.values(jobs).flatMap(({ uses }) => uses ?? []);
    for (const each of called) expect(paths).toContain(each.replace('./', ''));
  });

  test('uses actions of one commit, and names its release', () => {
    const lines = textOf(path).split('\n');
    const used = lines.filter((line) => / uses: (?!\.\/)/.test(line));
    expect(used).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    const fixed = /^ +(- )?uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(used.filter((line) => !fixed.test(line))).toEqual([]);
  });

  test('reads only, unless one job needs more; no job keeps its token or runs without a limit', () => {
    expect(given).toEqual({ contents: 'read' });
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const { with: inputs } of checkouts)
      expect(inputs).toMatchObject({ 'persist-credentials': false });
    for (const each of Object.values(jobs)) {
      expect(each.uses === undefined).toBe(each['timeout-minutes'] !== undefined);
    }
  });

  test('takes no text of a stranger into a command', () => {
    const inserted = steps.flatMap(({ run = '' }) => [...run.matchAll(/\$\{\{ (.*?) \}\}/g)]);
    expect(inserted.map(([, name]) => name).filter((name) => name !== 'matrix.command')).toEqual(
      [],
    );
  });
});

describe('a release', () => {
  const jobs = jobsOf('release.yml');
  const linesOf = (name: string) => (jobs[name]?.steps ?? []).map(({ run = '' }) => run);

  test('publishes the packages that the build makes, each after those it needs', () => {
    const [, names = ''] =
      /for name in (.*?); do npm publish/.exec(linesOf('npm').join('\n')) ?? [];
    expect(names.split(' ')).toEqual(publishedPackages);
  });

  test('publishes nothing before the tests have passed and the versions are right', () => {
    for (const name of ['npm', 'image']) {
      expect(jobs[name]?.needs).toBe('test');
      expect(linesOf(name)).toContain('node scripts/release.mjs check "$GITHUB_REF_NAME"');
    }
    expect(jobs['notes']?.needs).toEqual(['npm', 'image']);
  });

  test('may write only what each job publishes', () => {
    const written = Object.entries(jobs).flatMap(([name, { permissions: own = {} }]) =>
      Object.entries(own).flatMap(([scope, may]) => (may === 'write' ? [`${name}: ${scope}`] : [])),
    );
    expect(written).toEqual(['npm: id-token', 'image: packages', 'notes: contents']);
  });
});

test('the docs that are published are those that the build writes', () => {
  const { pages } = jobsOf('docs.yml');
  const build = pages?.steps.findIndex(({ run }) => run === 'npm run build:docs') ?? -1;
  const upload = pages?.steps[build + 1];
  expect(upload).toMatchObject({
    uses: expect.stringMatching(/^actions\/upload-pages-artifact@/),
    with: { path: '.cache/docs' },
  });
  expect(pages?.steps.slice(build + 2)).toMatchObject([
    { id: 'deployment', uses: expect.stringMatching(/^actions\/deploy-pages@/) },
  ]);
  expect(pages?.permissions).toEqual({ contents: 'read', pages: 'write', 'id-token': 'write' });
  expect(pages?.['environment']).toEqual({
    name: 'github-pages',
    url: '${{ steps.deployment.outputs.page_url }}',
  });
});

test('ci runs what a clean checkout runs, and nothing else of ours', () => {
  const jobs = jobsOf('ci.yml');
  const runs = (jobs['test']?.steps ?? []).flatMap(({ run }) => run ?? []);
  expect(runs.filter((run) => !/^(git|apt-get) /.test(run))).toEqual(['.ci/run']);
});
