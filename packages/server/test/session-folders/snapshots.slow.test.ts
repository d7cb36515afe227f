import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import type { FolderPaths } from '../../src/session-folders/folder-paths.ts';
import { archiveFolder, fingerprintFolder } from '../../src/session-folders/snapshots/archive.ts';
import { restoreFolder } from '../../src/session-folders/snapshots/restore.ts';
import { FolderSync } from '../../src/session-folders/snapshots/sync.ts';
import {
  type TarHead,
  tarEnd,
  tarHead,
  tarPadding,
} from '../../src/session-folders/snapshots/tar.ts';
import { BrokenArchive, unpack } from '../../src/session-folders/snapshots/unpack.ts';
import { recordingLog } from '../support/agent-folders.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-archive-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

async function temporaryPaths(): Promise<FolderPaths> {
  const sessionFolder = join(await temporaryFolder(), 'session');
  return { sessionFolder, stateDir: `${sessionFolder}.home`, manifest: `${sessionFolder}.json` };
}

async function write(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function archived(paths: FolderPaths, leg = 'run_1-1'): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of archiveFolder(paths, { leg, manifest: '{}' })) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* chunksOf(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function restored(bytes: Buffer, paths: FolderPaths, sha256?: string): Promise<void> {
  await restoreFolder(chunksOf(bytes), paths, {
    drafts: join(dirname(paths.sessionFolder), '.restoring'),
    sha256: sha256 ?? createHash('sha256').update(bytes).digest('hex'),
    account: undefined,
    settleManifest: async (text) => text,
  });
}

async function copied(from: FolderPaths): Promise<FolderPaths> {
  const to = await temporaryPaths();
  await restored(await archived(from), to);
  return to;
}

/** Everything below a folder: the content of each path. */
async function contentOf(root: string, below = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await readdir(join(root, below))) {
    const path = join(below, name);
    const stats = await lstat(join(root, path));
    if (stats.isSymbolicLink()) found[path] = `-> ${await readlink(join(root, path))}`;
    else if (stats.isFile()) found[path] = await readFile(join(root, path), 'utf8');
    else Object.assign(found, { [path]: 'folder' }, await contentOf(root, path));
  }
  return found;
}

test('a session folder is restored with files, links, modes and times, its HOME and its manifest', async () => {
  const paths = await temporaryPaths();
  await write(paths.sessionFolder, {
    'a.txt': 'one',
    'deep/er/b': 'two',
    'empty/x': '',
    'ünï çödé': 'u',
  });
  await write(paths.stateDir, { '.config/settings': 's' });
  await chmod(join(paths.sessionFolder, 'a.txt'), 0o751);
  await chmod(join(paths.sessionFolder, 'deep/er'), 0o555);
  await utimes(join(paths.sessionFolder, 'a.txt'), 1_000_000, 1_000_000);
  await symlink('../outside', join(paths.sessionFolder, 'link'));
  await symlink('/usr/bin/env', join(paths.sessionFolder, 'deep/absolute'));
  const to = await copied(paths);
  expect(await contentOf(to.sessionFolder)).toEqual(await contentOf(paths.sessionFolder));
  expect(await contentOf(to.stateDir)).toEqual({ '.config': 'folder', '.config/settings': 's' });
  const stats = await lstat(join(to.sessionFolder, 'a.txt'));
  expect([stats.mode & 0o7777, stats.mtimeMs]).toEqual([0o751, 1_000_000_000]);
  expect((await lstat(join(to.sessionFolder, 'deep/er'))).mode & 0o777).toBe(0o555);
  expect(await readFile(to.manifest, 'utf8')).toBe('{}');
  for (const root of [paths, to]) await chmod(join(root.sessionFolder, 'deep/er'), 0o755);
});

test('any tree with any names is restored', async () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
    .filter((text) => text.isWellFormed() && !/[/\0]/.test(text) && !['.', '..'].includes(text))
    .filter((text) => Buffer.byteLength(text) <= 255);
  const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(path, fc.string({ maxLength: 700 }), { maxKeys: 8 }),
      async (files) => {
        const paths = await temporaryPaths();
        await mkdir(paths.sessionFolder);
        for (const [at, text] of Object.entries(files)) {
          // A generated path may conflict with an earlier one: a folder where a file is, or the reverse.
          await write(paths.sessionFolder, { [at]: text.toWellFormed() }).catch(() => undefined);
        }
        const to = await copied(paths);
        expect(await contentOf(to.sessionFolder)).toEqual(await contentOf(paths.sessionFolder));
      },
    ),
    { numRuns: 30, endOnFailure: true },
  );
});

test('any tar program can read the archive', async () => {
  const paths = await temporaryPaths();
  const long = `${'long-'.repeat(40)}name`;
  await write(paths.sessionFolder, { 'a.txt': 'one', [`deep/${long}/b`]: 'two' });
  const tar = zstdDecompressSync(await archived(paths));
  const listed = execFileSync('tar', ['-tf', '-'], { input: tar, encoding: 'utf8' });
  expect(listed.trim().split('\n')).toEqual([
    'about.json',
    'record.json',
    'workspace',
    'workspace/a.txt',
    'workspace/deep',
    `workspace/deep/${long}`,
    `workspace/deep/${long}/b`,
  ]);
});

test('archiving does not follow links and leaves out pipes', async () => {
  const paths = await temporaryPaths();
  const outside = await temporaryFolder();
  await write(outside, { secret: 'of another tenant' });
  await write(paths.sessionFolder, { a: 'one' });
  await symlink(outside, join(paths.sessionFolder, 'folder'));
  await symlink(join(outside, 'secret'), join(paths.sessionFolder, 'file'));
  execFileSync('mkfifo', [join(paths.sessionFolder, 'pipe')]);
  const bytes = await archived(paths);
  expect(zstdDecompressSync(bytes).includes('of another tenant')).toBe(false);
  expect(Object.keys(await contentOf((await copied(paths)).sessionFolder)).sort()).toEqual([
    'a',
    'file',
    'folder',
  ]);
});

test('two archives of one session folder are always different blobs', async () => {
  const paths = await temporaryPaths();
  await write(paths.sessionFolder, { a: 'one' });
  expect((await archived(paths, 'run_1-1')).equals(await archived(paths, 'run_1-2'))).toBe(false);
});

test('times beyond the range of tar are restored', async () => {
  const paths = await temporaryPaths();
  await write(paths.sessionFolder, { far: 'x' });
  await utimes(join(paths.sessionFolder, 'far'), 1e11, 1e11);
  expect(await contentOf((await copied(paths)).sessionFolder)).toEqual({ far: 'x' });
});

const unsupported = {
  'longer than 2,048 bytes': (root: string) =>
    mkdir(join(root, ...Array.from({ length: 12 }, () => 'd'.repeat(200))), { recursive: true }),
  'deeper than 100 folders': (root: string) =>
    mkdir(join(root, ...Array.from({ length: 102 }, () => 'd')), { recursive: true }),
  'not UTF-8': (root: string) => {
    const name = Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]);
    return writeFile(name, 'in Latin-1');
  },
};
test.each(Object.entries(unsupported))(
  'a folder with a path that is %s is reported, not archived without it',
  async (_, make) => {
    const paths = await temporaryPaths();
    await write(paths.sessionFolder, { '\ufffd': 'a name like any other' });
    expect(await fingerprintFolder(paths)).not.toHaveProperty('problem');
    await make(paths.sessionFolder);
    expect(await fingerprintFolder(paths)).toMatchObject({ problem: 'unsupported_path' });
    await expect(archived(paths)).rejects.toThrow(/^a (path|name) is /);
  },
);

test('names of any kind count towards the size of a folder that is archived', async () => {
  const paths = await temporaryPaths();
  await write(paths.sessionFolder, { a: 'one' });
  const pipes = Array.from({ length: 40 }, (_, index) =>
    join(paths.sessionFolder, `pipe-${index}`),
  );
  execFileSync('mkfifo', pipes);
  expect(await fingerprintFolder(paths, 41)).not.toHaveProperty('problem');
  expect(await fingerprintFolder(paths, 40)).toMatchObject({ problem: 'too_large' });
});

test('the fingerprint is the same until something is changed', async () => {
  const paths = await temporaryPaths();
  await write(paths.sessionFolder, { 'a.txt': 'one', 'b/c': 'two' });
  const looks = async () => (await fingerprintFolder(paths)).fingerprint;
  const before = await looks();
  await readFile(join(paths.sessionFolder, 'a.txt'));
  await write(paths.sessionFolder, { passing: 'x' });
  await removeFolder(join(paths.sessionFolder, 'passing'));
  expect(await looks()).toBe(before);
  // The same length and the same time, as some tools write.
  await writeFile(join(paths.sessionFolder, 'a.txt'), 'two');
  await utimes(join(paths.sessionFolder, 'a.txt'), 1, 1);
  const after = await looks();
  expect(after).not.toBe(before);
  await write(paths.stateDir, { state: 'x' });
  expect(await looks()).not.toBe(after);
});

test('a broken, truncated or wrong archive leaves the old folder untouched', async () => {
  const paths = await temporaryPaths();
  await write(paths.sessionFolder, { a: 'saved' });
  const bytes = await archived(paths);
  const digest = createHash('sha256').update(bytes).digest('hex');
  const to = await temporaryPaths();
  await write(to.sessionFolder, { a: 'older' });
  for (const cut of [0, 1, 20, bytes.length - 1]) {
    await expect(restored(bytes.subarray(0, cut), to, digest)).rejects.toThrow(BrokenArchive);
  }
  await expect(restored(bytes, to, '0'.repeat(64))).rejects.toThrow('digest');
  await expect(restored(Buffer.from('not an archive'), to)).rejects.toThrow(BrokenArchive);
  expect(await contentOf(to.sessionFolder)).toEqual({ a: 'older' });
  expect(await readdir(join(dirname(to.sessionFolder), '.restoring'))).toEqual([]);
  await restored(bytes, to);
  expect(await contentOf(to.sessionFolder)).toEqual({ a: 'saved' });
});

test('a failing source is not reported as a broken archive', async () => {
  const paths = await temporaryPaths();
  await write(paths.sessionFolder, { a: 'saved' });
  const bytes = await archived(paths);
  const cut = (async function* () {
    yield bytes.subarray(0, 20);
    throw new TypeError('the store went away');
  })();
  const restoring = restoreFolder(cut, await temporaryPaths(), {
    drafts: join(await temporaryFolder(), 'drafts'),
    sha256: '',
    account: undefined,
    settleManifest: async (text) => text,
  });
  await expect(restoring).rejects.toThrow(TypeError);
});

type Forged = Partial<TarHead> & { readonly text?: string; readonly flag?: string };

function forged(entries: readonly Forged[]): Buffer {
  const parts = entries.flatMap(({ text = '', flag, ...given }) => {
    const content = Buffer.from(text);
    const usual = { kind: 'file', mode: 0o644, modifiedMs: 0, target: '' } as const;
    const head = tarHead({ ...usual, path: 'workspace/x', sizeBytes: content.length, ...given });
    if (given.mode !== undefined)
      head.write(given.mode.toString(8).padStart(7, '0'), 100, 'latin1');
    setKind(head, flag ?? head.toString('latin1', 156, 157));
    return [head, content, tarPadding(content.length)];
  });
  return Buffer.concat([...parts, tarEnd]);
}

/** Changes the kind of an entry and its checksum. */
function setKind(head: Buffer, flag: string): void {
  head.write(flag, 156, 'latin1');
  head.write(' '.repeat(8), 148, 'latin1');
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
}

const folder = { path: 'workspace', kind: 'folder' } as const;
/** The file that the archives below try to write; no other program on this machine has one of its name. */
const escaped = `convoke-escaped-${process.pid}`;
const outside = `/tmp/${escaped}`;

test.each<[string, readonly Forged[]]>([
  ['a path with ..', [folder, { path: 'workspace/../../escape' }]],
  ['a path that starts with ..', [{ path: '../escape' }]],
  ['an absolute path', [{ path: outside }]],
  ['a path of dots inside a long name', [folder, { path: `workspace/${'a/'.repeat(80)}../../x` }]],
  ['an empty part', [folder, { path: 'workspace//x' }]],
  ['another top-level name', [{ path: 'elsewhere' }]],
  [
    'a file through a link',
    [
      folder,
      { path: 'workspace/l', kind: 'link', target: '/tmp' },
      { path: `workspace/l/${escaped}` },
    ],
  ],
  [
    'a folder over a link',
    [
      folder,
      { path: 'workspace/l', kind: 'link', target: '/tmp' },
      { path: 'workspace/l', kind: 'folder' },
    ],
  ],
  [
    'a file over a link',
    [folder, { path: 'workspace/l', kind: 'link', target: outside }, { path: 'workspace/l' }],
  ],
  [
    'a link in paths of the session folder',
    [{ path: 'workspace', kind: 'link', target: '/tmp' }, { path: `workspace/${escaped}` }],
  ],
  ['a file without its folder', [{ path: 'workspace/x' }]],
  ['one name twice', [folder, { path: 'workspace/x' }, { path: 'workspace/x' }]],
  ['a hard link', [folder, { flag: '1', target: '/etc/passwd' }]],
  ['a character device', [folder, { flag: '3' }]],
  ['a block device', [folder, { flag: '4' }]],
  ['a pipe', [folder, { flag: '6' }]],
  ['a long name of another kind', [folder, { flag: 'L', text: '../escape' }]],
  ['settings for all entries', [folder, { flag: 'g', text: '18 path=../escape\n' }]],
  ['more bytes than the limit', [folder, { sizeBytes: 7 * 1024 ** 3 }]],
  ['a link without a target', [folder, { kind: 'link', target: '' }]],
])('%s is rejected, and nothing is written outside the folder', async (_, entries) => {
  const into = join(await temporaryFolder(), 'in');
  await mkdir(into);
  await expect(unpack(chunksOf(forged(entries)), into, undefined)).rejects.toThrow(Error);
  expect(await readdir(dirname(into))).toEqual(['in']);
  expect(existsSync(outside)).toBe(false);
});

test('setuid and setgid bits are dropped', async () => {
  const into = await temporaryFolder();
  await unpack(chunksOf(forged([folder, { mode: 0o6755 }])), into, undefined);
  expect((await lstat(join(into, 'workspace/x'))).mode & 0o7777).toBe(0o755);
});

test('a header with a wrong checksum is rejected', async () => {
  const tar = forged([folder, { text: 'x' }]);
  tar[3] = 0x41;
  await expect(unpack(chunksOf(tar), await temporaryFolder(), undefined)).rejects.toThrow(
    'checksum',
  );
});

test('an archive of a newer release is not reported as broken', async () => {
  const about = { path: 'about.json', text: '{"format":2}' };
  const tar = forged([about, { path: 'record.json', text: '{}' }, folder]);
  const restoring = restored(zstdCompressSync(tar), await temporaryPaths());
  await expect(restoring).rejects.toThrow('another release');
  await expect(restoring).rejects.not.toThrow(BrokenArchive);
});

test('an archive is closed also if nothing of it was read', async () => {
  const dataDir = await temporaryFolder();
  // There is no place for the unpacked files.
  await writeFile(join(dataDir, 'workspaces'), '');
  let closed = 0;
  const chunks: AsyncIterator<Uint8Array> = {
    next: () => Promise.reject(new Error('it is read')),
    return: async () => {
      closed += 1;
      return { done: true, value: undefined };
    },
  };
  const sync = new FolderSync({ dataDir, log: recordingLog(), account: undefined });
  const saved = {
    state: 'a'.repeat(64),
    open: async () => ({ [Symbol.asyncIterator]: () => chunks }),
  };
  const stale = { saved, exists: false, mustRestore: false };
  const restoring = sync.restoreIfStale(await temporaryPaths(), stale);
  await expect(restoring).rejects.toThrow(/ENOTDIR|EEXIST/);
  expect(closed).toBe(1);
});
