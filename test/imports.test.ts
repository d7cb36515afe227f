import { describe, expect, test } from 'vitest';
import { checkoutProblems, importCircles, importProblems } from './imports.ts';
import { files, textOf } from './repository.ts';

test('every import of every package points the way the layout allows', () => {
  const sources = files(/^packages\/[^/]+\/src\/.*\.tsx?$/);
  expect(sources.length).toBeGreaterThan(0);
  expect(sources.flatMap((path) => importProblems(path, textOf(path)))).toEqual([]);
});

test('scripts import packages through their doors, and no package imports scripts', () => {
  const programs = files(/^(packages|scripts)\/.*\.(ts|tsx|mjs)$/);
  expect(programs.flatMap((path) => checkoutProblems(path, textOf(path)))).toEqual([]);
});

test.each([
  ['scripts/start.mjs', `await import('../packages/cli/src/main.ts');`],
  ['scripts/start.mjs', `import { x } from '../packages/cli/test/terminal-session.ts';`],
  ['packages/cli/bin/convoke.mjs', `await import('../../../scripts/tools.mjs');`],
  ['packages/sdk/test/wire.test.ts', `import { x } from '../../../scripts/plants.mjs';`],
  ['packages/launch/src/launch.mjs', `import { x } from '../../cli/src/server.ts';`],
  ['packages/launch/src/launch.mjs', `import { z } from 'zod';`],
])('%s: %s is named', (path, source) => {
  expect(checkoutProblems(path, source)).toHaveLength(1);
});

test('no files import each other in a circle, not through import() either', () => {
  const paths = files(/^packages\/[^/]+\/src\/.*\.tsx?$/);
  expect(importCircles(new Map(paths.map((path) => [path, textOf(path)])))).toEqual([]);
});

test('no files in Python import each other in a circle but those of D-958', () => {
  const paths = files(/^packages\/(agent-python\/convoke_agent|python\/src)\/.*\.py$/);
  const circles = importCircles(new Map(paths.map((path) => [path, textOf(path)])));
  const known = /_generated\/(async_)?resources\.py$|_a?sync\/(agents|runs|sessions)\.py$/;
  expect(
    circles.filter((circle) => !circle.split(' → ').every((path) => known.test(path))),
  ).toEqual([]);
  // It sees those.
  expect(circles).not.toEqual([]);
});

test('a circle through import() is named', () => {
  const sources = {
    'a/one.ts': `const two = await import('./two.ts');`,
    'a/two.ts': `export { x } from './more/three.ts';`,
    'a/more/three.ts': `import type { X } from '../one.ts';`,
    'a/free.ts': `import './one.ts';`,
  };
  expect(importCircles(new Map(Object.entries(sources)))).toEqual([
    'a/one.ts → a/two.ts → a/more/three.ts → a/one.ts',
  ]);
});

test('a circle in Python is named, through a function and an import for types, too', () => {
  const sources = {
    'kit/one.py': 'from . import two as second\n',
    'kit/two.py': 'def f():\n    from .parts.three import x\n',
    'kit/parts/three.py': 'if TYPE_CHECKING:\n    from ..one import (\n        X,\n    )\n',
    'kit/free.py': 'from .one import f\n',
  };
  expect(importCircles(new Map(Object.entries(sources)))).toEqual([
    'kit/one.py → kit/two.py → kit/parts/three.py → kit/one.py',
  ]);
});

describe('an import that points the wrong way is named', () => {
  const server = 'packages/server/src';
  test.each([
    [`${server}/domain/run.ts`, `import { x } from '../ports/store.ts';`],
    [`${server}/domain/run.ts`, `import { readFileSync } from 'node:fs';`],
    [`${server}/domain/run.ts`, `import { z } from 'zod';`],
    [`${server}/ports/store.ts`, `import type { X } from '../app/runs.ts';`],
    [`${server}/app/runs.ts`, `import {\n  x,\n} from '../store/sql.ts';`],
    [`${server}/app/runs.ts`, `import { x } from '../auth/gate.ts';`],
    [`${server}/app/runs.ts`, `import { DatabaseSync } from 'node:sqlite';`],
    [`${server}/app/runs.ts`, `export { x } from "../http/sse.ts";`],
    [`${server}/http/sse.ts`, `import '../store/sql.ts';`],
    [`${server}/http/sse.ts`, `import pg from 'pg';`],
    [`${server}/workers/driver.ts`, `import { x } from '../http/app.ts';`],
    [`${server}/store/sql.ts`, `import { x } from '../fanout/local.ts';`],
    [`${server}/fanout/postgres.ts`, `const x = await import('../store/sql.ts');`],
    [`${server}/harness/scripted/leg.ts`, `import { x } from '../acp/leg.ts';`],
    [`${server}/harness/registry.ts`, `import { x } from './scripted/leg.ts';`],
    [`${server}/main.ts`, `import { x } from './store/store.ts';`],
    [`${server}/domain/run.ts`, `import { x } from '../../../contract/src/ids.ts';`],
    [`${server}/misc/run.ts`, ``],
    ['packages/contract/src/ids.ts', `import { randomUUID } from 'node:crypto';`],
    ['packages/conformance/src/run.ts', `import { x } from '@convoke/server';`],
    ['packages/console/src/frame/app.tsx', `import { x } from '@convoke/contract';`],
    ['packages/console/src/parts/time.tsx', `import { x } from '../screens/home.tsx';`],
    ['packages/console/src/session/api.ts', `import { x } from '../parts/icon.tsx';`],
    ['packages/console/src/screens/home.tsx', `import { x } from '../frame/screens.ts';`],
  ])('%s: %s', (path, source) => {
    expect(importProblems(path, source)).toHaveLength(1);
  });
});

test('imports that follow the layout, and prose about imports, are left alone', () => {
  const source = [
    `import type { Run } from '../domain/run.ts';`,
    `import { refuse } from './refusal.ts';`,
    `import { limits } from '@convoke/contract';`,
    `// import { x } from '../http/sse.ts' would point the wrong way`,
  ].join('\n');
  expect(importProblems('packages/server/src/app/runs.ts', source)).toEqual([]);
  expect(
    importProblems('packages/server/src/compose/compose.ts', `import '../store/store.ts';`),
  ).toEqual([]);
});
