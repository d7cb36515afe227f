import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentDigest } from '../../src/agents/content-digest.ts';
import { temporaryFolder } from '../support/agent-folders.ts';

test('of the files of an agent beyond 64 MiB, the names and sizes count (D-574)', async () => {
  const folder = await temporaryFolder();
  const place = join(folder, 'workspace');
  await mkdir(place);
  const [large, after] = [join(place, 'a.bin'), join(place, 'b.txt')];
  const digestWith = async (sizeMiB: number, text: string) => {
    await writeFile(large, text);
    await truncate(large, sizeMiB * 1024 * 1024);
    await writeFile(after, text);
    return contentDigest(folder);
  };
  expect(await digestWith(65, 'one')).toBe(await digestWith(65, 'two'));
  expect(await digestWith(65, 'one')).not.toBe(await digestWith(66, 'one'));
  expect(await digestWith(1, 'one')).not.toBe(await digestWith(1, 'two'));
});
