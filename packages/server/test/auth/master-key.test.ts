import { chmod, mkdtemp, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { deriveKey, loadMasterKey } from '../../src/auth/master-key.ts';
import { createSealing } from '../../src/auth/sealing.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-key-'));
});
afterEach(() => removeFolder(folder));

const own = () => ({ path: join(folder, 'master.key'), isGiven: false });

describe('the master key', () => {
  test('is created once, readable by its owner only, and read from then on', async () => {
    const [first, ...others] = await Promise.all(
      Array.from({ length: 8 }, () => loadMasterKey(own())),
    );
    expect(first).toHaveLength(32);
    for (const other of others) expect(other).toEqual(first);
    expect((await stat(join(folder, 'master.key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['master.key']);
    expect(await loadMasterKey(own())).toEqual(first);
  });

  test('is refused when other users can read it', async () => {
    await loadMasterKey(own());
    await chmod(join(folder, 'master.key'), 0o640);
    await expect(loadMasterKey(own())).rejects.toThrow(/mode 640.*chmod 600/);
  });

  test('is refused and left unchanged when the file does not hold a key', async () => {
    await writeFile(join(folder, 'master.key'), 'c2hvcnQ=\n', { mode: 0o600 });
    await expect(loadMasterKey(own())).rejects.toThrow(/32 bytes/);
    expect(await readFile(join(folder, 'master.key'), 'utf8')).toBe('c2hvcnQ=\n');
  });

  test('shared by servers is never created by one of them', async () => {
    const path = join(folder, 'shared.key');
    await expect(loadMasterKey({ path, isGiven: true })).rejects.toThrow(
      /shared\.key does not exist/,
    );
    await writeFile(path, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o440 });
    expect(await loadMasterKey({ path, isGiven: true })).toEqual(Buffer.alloc(32, 7));
    await chmod(path, 0o444);
    await expect(loadMasterKey({ path, isGiven: true })).rejects.toThrow(/mode 444/);
  });

  test('gives each purpose a key of its own', async () => {
    const master = await loadMasterKey(own());
    const derived = (['client-secrets', 'signing-keys', 'cursors'] as const).map((purpose) =>
      deriveKey(master, purpose).toString('hex'),
    );
    expect(new Set([...derived, master.toString('hex')]).size).toBe(4);
  });
});

describe('sealed text', () => {
  const sealing = createSealing(Buffer.alloc(32, 1));

  test('can be unsealed with the same key and name only', () => {
    const sealed = sealing.seal('a', 'private');
    expect(sealed).not.toContain('private');
    expect(sealing.unseal('a', sealed)).toBe('private');
    expect(sealing.unseal('b', sealed)).toBeUndefined();
    expect(createSealing(Buffer.alloc(32, 2)).unseal('a', sealed)).toBeUndefined();
    expect(sealing.unseal('a', `${sealed.slice(0, -4)}AAAA`)).toBeUndefined();
    expect(sealing.unseal('a', 'AAAA')).toBeUndefined();
  });
});
