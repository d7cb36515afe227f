import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { buildWheel } from '../scripts/build-wheel.ts';
import { source } from '../scripts/wire.ts';
import sdk from '../../sdk/package.json' with { type: 'json' };

// pip and mypy are slow when other work has the processor.
vi.setConfig({ testTimeout: 400_000 });

let folder: string;
let wheel: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-wheel-'));
  wheel = await buildWheel(folder);
});
afterAll(() => removeFolder(folder));

test('the wheel is the same bytes each time, and has the version of all packages', async () => {
  const first = await readFile(wheel);
  await buildWheel(folder);
  expect((await readFile(wheel)).equals(first)).toBe(true);
  expect(wheel).toContain(`convoke_sdk-${sdk.version}-py3-none-any.whl`);
  const version = await readFile(new URL('_version.py', source), 'utf8');
  expect(version).toContain(`VERSION = "${sdk.version}"`);
});

test('pip installs it into an empty folder without a network, and it works from there (D-225)', () => {
  const place = join(folder, 'installed');
  const pip = [
    '-m',
    'pip',
    'install',
    '--isolated',
    '--no-index',
    '--no-deps',
    '--disable-pip-version-check',
  ];
  const hasPip = spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
  // What pip does with a wheel, where Python came without it: unpack it, and compare every file with its record.
  if (hasPip) python([...pip, '--target', place, wheel]);
  else python(['-m', 'zipfile', '-e', wheel, place]);
  expect(python(['-c', checkRecord, place])).toMatch(/^[5-9]\d files\n$/);
  const program = 'import convoke_sdk, convoke_sdk.types; print(convoke_sdk.__version__)';
  expect(python(['-I', '-c', `import sys; sys.path[0:0] = ["${place}"]; ${program}`])).toBe(
    `${sdk.version}\n`,
  );
});

const checkRecord = `
import base64, csv, hashlib, pathlib, sys
place = pathlib.Path(sys.argv[1])
[record] = place.glob("*.dist-info/RECORD")
count = 0
for path, digest, size in csv.reader(record.open()):
    if not digest or path.endswith(".pyc"):
        continue
    data = (place / path).read_bytes()
    expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert digest == "sha256=" + expected and int(size) == len(data), path
    count += 1
print(count, "files")
`;

const mypy = process.env['CONVOKE_TEST_MYPY'] ?? 'mypy';
const hasMypy =
  process.env['CONVOKE_TEST_MYPY'] !== undefined ||
  spawnSync(mypy, ['--version'], { stdio: 'ignore' }).status === 0;

// Debian: apt install mypy. Where CONVOKE_TEST_MYPY names it, its absence is an error.
test.runIf(hasMypy)(
  'mypy --strict accepts the client and the first program of its README',
  async () => {
    const readme = await readFile(new URL('../../README.md', source), 'utf8');
    const program = join(folder, 'readme.py');
    const first = /```python\n(.*?)```/s.exec(readme)?.[1] ?? '';
    await writeFile(program, `${first}\nimport convoke_sdk.types\n`);
    const env = { ...process.env, MYPYPATH: join(import.meta.dirname, '../src') };
    // Without the configuration that the person at this machine has.
    const args = ['--strict', '--config-file=', '--cache-dir', join(folder, 'mypy'), program];
    const { stdout } = spawnSync(mypy, args, { env, encoding: 'utf8' });
    expect(stdout).toContain('Success: no issues found');
  },
);

function python(args: readonly string[]): string {
  const env = { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' };
  return execFileSync('python3', args, { env, encoding: 'utf8', cwd: folder });
}
