// D-571: what `convoke agents types` writes, for schemas of every kind, read by the compilers of both languages.
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { agentTypes } from '../src/schema-types/agent-types.ts';
import { type Sample, samples } from './schema-samples.ts';

const agents = samples.map(({ schema }, index) => ({
  name: `agent-${index}`,
  description: 'Ends a comment: */ """ \\ and\nbegins a line',
  input_schema: schema,
  output_schema: schema,
}));

describe('TypeScript', () => {
  test('takes what fits each schema and refuses what does not, as strictly as it can be asked', async () => {
    await using folder = await openProgramFolder(join(import.meta.dirname, '..'));
    const lines = samples.flatMap((sample, index) => [
      ...sample.fits.map((value) => used(index, value)),
      ...(sample.misfits ?? []).map(
        (value) => `// @ts-expect-error ${sample.what}\n${used(index, value)}`,
      ),
    ]);
    const program = [
      "import type { Agents } from './convoke-agents.ts';",
      'declare function takes<Name extends keyof Agents>(name: Name, input: Agents[Name]["input"], output: Agents[Name]["output"]): void;',
      'declare const none: never;',
      ...lines,
    ];
    await writeFile(join(folder.path, 'convoke-agents.ts'), agentTypes(agents, 'ts'));
    await writeFile(join(folder.path, 'program.ts'), program.join('\n'));
    const settings = { extends: join(root, 'tsconfig.json'), include: ['*.ts'] };
    await writeFile(join(folder.path, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder.path], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });

  function used(index: number, value: unknown): string {
    return `takes('agent-${index}', ${JSON.stringify(value)}, none);`;
  }
});

const mypy = process.env['CONVOKE_TEST_MYPY'] ?? 'mypy';
const hasMypy =
  process.env['CONVOKE_TEST_MYPY'] !== undefined ||
  spawnSync(mypy, ['--version'], { stdio: 'ignore' }).status === 0;

describe('Python', () => {
  test('loads the module, and the names of its types are never the same', async () => {
    await using folder = await openProgramFolder(join(import.meta.dirname, '..'));
    const text = agentTypes([...agents, ...alike], 'python');
    await writeFile(join(folder.path, 'convoke_agents.py'), text);
    const args = ['-c', 'import convoke_agents'];
    const env = { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' };
    expect(execFileSync('python3', args, { cwd: folder.path, env, encoding: 'utf8' })).toBe('');
    const names = [...text.matchAll(/^(?:class )?(\w+)(?:\(|: TypeAlias| = TypedDict)/gm)];
    expect(names.length).toBeGreaterThan(2 * samples.length);
    expect(new Set(names.map(([, name]) => name)).size).toBe(names.length);
  });

  test.runIf(hasMypy)(
    'mypy --strict takes what fits each schema and refuses what does not',
    async () => {
      await using folder = await openProgramFolder(join(import.meta.dirname, '..'));
      await writeFile(
        join(folder.path, 'convoke_agents.py'),
        agentTypes([...agents, ...alike], 'python'),
      );
      const lines = samples.flatMap((sample, index) => [
        ...sample.fits.map((value, at) => assigned(index, `fit_${at}`, value)),
        ...misfitsIn(sample).map(
          (value, at) => `${assigned(index, `misfit_${at}`, value)}  # type: ignore`,
        ),
      ]);
      const program = ['from convoke_agents import *', ...lines];
      await writeFile(join(folder.path, 'program.py'), program.join('\n'));
      // An ignored line that has nothing to ignore is an error, too.
      const args = [
        '--strict',
        '--warn-unused-ignores',
        '--config-file=',
        '--cache-dir',
        join(folder.path, 'cache'),
      ];
      const { stdout } = spawnSync(mypy, [...args, 'program.py'], {
        cwd: folder.path,
        encoding: 'utf8',
      });
      expect(stdout).toContain('Success: no issues found');
    },
  );

  /** A class of Python takes no other members than those it names, so both kinds of schema are JSON objects there. */
  function misfitsIn({ misfits = [], isLooseInPython }: Sample): readonly unknown[] {
    return isLooseInPython === true ? [] : misfits;
  }

  function assigned(index: number, name: string, value: unknown): string {
    return `${name}_${index}: Agent${index}Input = ${inPython(value)}`;
  }
});

function inPython(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(inPython).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}: ${inPython(each)}`,
  );
  return `{${members.join(', ')}}`;
}

/** Agents whose types would have the same names. */
const nested = { type: 'object', properties: { input: { type: 'object', properties: { a: {} } } } };
const alike = ['x', 'x-input', 'xInput', 'a-1', 'a1', '7up', '-'].map((name) => ({
  name,
  description: '',
  input_schema: nested,
  output_schema: {
    $ref: '#/$defs/input',
    $defs: { input: nested, Input: nested, 'in-put': nested },
  },
}));
