import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { prepareFile, uploadFile } from '../../src/app/files/files.ts';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import { temporaryFolder } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { createRunFixture } from '../support/run-fixture.ts';

describe.each(databaseKinds)('on %s', (kind) => {
  test('a file stays pending while its bytes do not have their name, and can be uploaded again (D-41)', async () => {
    const world = await createRunFixture(kind, { sessionFiles: true });
    const disk = await openDiskBlobs({ dataDir: await temporaryFolder() });
    const broken = new Error('the name cannot be written');
    const failing: Blobs = {
      ...disk,
      stage: async (source, options) => ({
        ...(await disk.stage(source, options)),
        publish: () => Promise.reject(broken),
      }),
    };
    const sessionId = await world.open();
    const file = await prepareFile(world, world.scope, {
      sessionId,
      name: 'a.txt',
      contentType: 'text/plain',
      sizeBytes: undefined,
      sha256: undefined,
    });
    const upload = (blobs: Blobs) =>
      uploadFile({ ...world, blobs }, world.scope, {
        sessionId,
        fileId: file.id,
        content: Readable.from([Buffer.from('bytes')]),
      });
    await expect(upload(failing)).rejects.toBe(broken);
    expect(await world.store.read.files.find(world.scope, sessionId, file.id)).toEqual(file);
    expect((await upload(disk)).status).toBe('ready');
  });
});
