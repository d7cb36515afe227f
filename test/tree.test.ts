import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { files, root, textOf } from './repository.ts';
import { folderProblems, listedFiles, treeProblems } from './tree.ts';

const binary = /\.(png|jpe?g|gif|ico|woff2?|gz|zip|pdf|bin)$/;

test('the tree holds nothing that the house refuses', () => {
  const kept = files(/./).filter((path) => !binary.test(path));
  expect(kept).toContain('package-lock.json');
  expect(kept.flatMap((path) => treeProblems(path, textOf(path)))).toEqual([]);
  expect(folderProblems(kept)).toEqual([]);
});

describe('each offence is named', () => {
  const server = 'packages/server/src';
  const at = (host: string) => `fetch('https:/` + `/${host}/x')`;
  test.each([
    [`${server}/utils/run.ts`, ''],
    [`${server}/app/helpers.ts`, ''],
    [`${server}/domain/types.ts`, ''],
    [`${server}/app/runs-v2.ts`, ''],
    [`${server}/app/legacy-runs.ts`, ''],
    [`${server}/app/runOnce.ts`, ''],
    [`${server}/app/index.ts`, ''],
    ['packages/server/test/app/runs.lengthy.test.ts', ''],
    ['packages/server/test/app/runs.plain.test.ts', ''],
    [`${server}/app/runs.ts`, 'x;\n'.repeat(401)],
    ['packages/server/test/app/runs.test.ts', 'x;\n'.repeat(401)],
    [`${server}/domain/run.ts`, 'const now = Date.now();'],
    [`${server}/app/runs.ts`, 'setTimeout(() => {}, 5);'],
    [`${server}/http/sse.ts`, '// ' + 'TO' + 'DO: later'],
    [`${server}/app/runs.ts`, '// Nobody waits for this run.'],
    ['packages/agent-python/convoke_agent/leg.py', '# Nobody waits for this run.'],
    ['packages/sdk/src/runs.ts', "throw new Error('whoever asked is gone');"],
    ['packages/cli/src/commands/webhooks.ts', "'Delete a webhook; what waits is not sent'"],
    ['docs/guides/feed.md', 'Its worker was lost, and the run goes on later.'],
    ['docs/decisions/runs.md', 'The run is going on.'],
    ['packages/python/src/convoke_sdk/errors.py', '"""Raised outside of a run."""'],
    ['packages/server/test/app/runs.test.ts', "test('a lost run goes on', f);"],
    ['test/planted/lease.patch', 'A lease renews by itself.'],
    ['packages/cli/src/commands/webhooks.ts', "throw new Error('the label must be a text')"],
    [`${server}/app/runs.ts`, ` * ${'words '.repeat(20)}`],
    ['packages/agent-python/convoke_agent/leg.py', `    # ${'words '.repeat(20)}`],
    [`${server}/index.ts`, `export * from './main.ts';`],
    [`${server}/http/sse.ts`, at('registry.example.org')],
    ['package-lock.json', `"resolved": ${'"https:'}/example.org/x.tgz"`],
    ['packages/server/test/app/runs.test.ts', `${['it', 'only'].join('.')}('x', () => {})`],
    ['packages/server/test/app/runs.test.ts', `${['test', 'each', 'skip'].join('.')}('x')`],
    ['packages/server/test/app/runs.test.ts', `await new Promise((r) ${'=>'} setTimeout(r, 9));`],
  ])('%s: %s', (path, text) => {
    expect(treeProblems(path, text)).toHaveLength(1);
  });
});

test('a folder of sources has 25 files at most on one level, unless it is a list of one kind', () => {
  const of = (folder: string, count: number) =>
    Array.from({ length: count }, (_, index) => `packages/${folder}/file-${index}.ts`);
  expect(folderProblems(of('console/src/parts', 26))).toHaveLength(1);
  expect(
    folderProblems([...of('console/src/parts', 25), ...of('console/src/parts/list', 25)]),
  ).toEqual([]);
  expect(folderProblems(of('server/src/store/migrations/sqlite', 26))).toEqual([]);
  expect(folderProblems(of('server/test/http', 26))).toEqual([]);
});

test('test/README.md has a line for each file that tests share, and for no other', () => {
  const shared = files(/^(test|packages\/[^/]+\/test)\/.*\.ts$/).filter(
    (path) => !path.endsWith('.test.ts'),
  );
  expect(listedFiles(textOf('test/README.md')).toSorted()).toEqual(shared.toSorted());
});

test('a file that says it is generated is marked so for reviews, and no other is', () => {
  const paths = files(/./).filter((path) => !binary.test(path));
  const said = paths.filter((path) =>
    /^(<!--|\/\/|#) Generated from .*Do not edit\./m.test(textOf(path)),
  );
  const args = ['check-attr', '--stdin', '-z', 'linguist-generated'];
  const answer = execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    input: paths.join('\0'),
  });
  const marked = Array.from(
    answer.matchAll(/([^\0]+)\0linguist-generated\0set\0/g),
    ([, path = '']) => path,
  );
  expect(said.filter((path) => !marked.includes(path))).toEqual([]);
  // These cannot say it themselves.
  const silent = marked.filter(
    (path) => !said.includes(path) && !path.startsWith('docs/generated/'),
  );
  expect(silent).toEqual(['docs/reference/openapi.json']);
});

test('ordinary files are left alone', () => {
  expect(treeProblems('packages/contract/src/index.ts', `export { z } from 'zod';\n`)).toEqual([]);
  expect(treeProblems('packages/server/src/workers/driver.ts', 'setTimeout(f, 1);\n')).toEqual([]);
  expect(treeProblems('packages/server/test/app/runs.slow.test.ts', '')).toEqual([]);
  expect(treeProblems('vitest.config.ts', 'x;\n'.repeat(400))).toEqual([]);
});

// npm leaves out the native part of a tool where the registry has none for a platform, and says nothing. Such a
// lockfile installs well and fails at the first start elsewhere.
test('the lockfile holds every native part of every tool for the platforms we name', () => {
  const platform = /(linux-(x64|arm64)(-gnu)?|darwin-(x64|arm64)|win32-x64(-msvc)?)$/;
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const absent = Object.entries(packages).flatMap(([owner, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => platform.test(name))
      .filter((name) => !(`node_modules/${name}` in packages))
      .filter((name) => !(`${owner}/node_modules/${name}` in packages))
      .map((name) => `${owner} needs ${name}`),
  );
  expect(absent).toEqual([]);
});
