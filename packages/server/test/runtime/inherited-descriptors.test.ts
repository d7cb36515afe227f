import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { inheriting, openSecret } from '../support/inherited-files.ts';

const { href } = new URL('../../src/runtime/inherited-descriptors.ts', import.meta.url);
const script = `
  import { readdirSync, readlinkSync } from 'node:fs';
  import { closeInheritedDescriptors } from '${href}';
  const openFiles = () => readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync('/proc/self/fd/' + descriptor)];
    } catch {
      return [];
    }
  });
  const before = openFiles();
  const closed = closeInheritedDescriptors();
  console.log(JSON.stringify({ before, closed, after: openFiles() }));
`;

interface Report {
  readonly before: readonly string[];
  readonly closed: readonly number[];
  readonly after: readonly string[];
}

test.runIf(process.platform === 'linux')(
  'what a process has inherited is closed, and a log that V8 writes stays open',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'convoke-descriptors-'));
    onTestFinished(() => removeFolder(folder));
    const secret = await openSecret();
    onTestFinished(() => secret.close());
    const log = ['--log', `--logfile=${join(folder, 'v8.log')}`];
    const child = spawn(process.execPath, [...log, '--input-type=module', '--eval', script], {
      stdio: inheriting(secret, ['ignore', 'pipe', 'inherit']),
    });
    if (child.stdout === null) throw new Error('no output');
    const { before, closed, after } = JSON.parse(await text(child.stdout)) as Report;
    const logs = before.filter((path) => path.startsWith(folder));
    expect(logs).toHaveLength(1);
    expect(before.join()).toContain('inherited-secret');
    expect(closed).toContain(40);
    expect(after.join()).not.toContain('inherited-secret');
    expect(after).toEqual(expect.arrayContaining(logs));
  },
);
