import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { begin, ended, openSession } from '../support/api-steps.ts';
import { type Identity, type OperationCall, pathOf } from '../support/checked-calls.ts';
import { databaseKinds } from '../support/databases.ts';
import { addBystander, addClient, addTenant } from '../support/identities.ts';
import { leastOf, medianWork } from '../support/processor-work.ts';
import { type TestServer, startServer } from '../support/server.ts';

const kibibyte = 1024;
const most = 100 * kibibyte;

describe.each(databaseKinds)('the storage of a tenant on %s', (database) => {
  let server: TestServer;
  let bystander: Identity;
  beforeAll(async () => {
    const env = { CONVOKE_TENANT_STORAGE_BYTES: String(most) };
    server = await startServer({ database, env });
    bystander = await addBystander(server);
  });

  /** A tenant without files, and a session in it. */
  async function openTenant(of?: Identity) {
    const as = of ?? (await addClient(server)).in(await addTenant(server));
    const session = await openSession(server, 'echo', { as });
    const params = { session_id: session.id };
    const prepare = (size_bytes?: number): OperationCall => ({
      as,
      params,
      body: { name: 'a.bin', ...(size_bytes !== undefined && { size_bytes }) },
    });
    const prepared = async (size?: number) =>
      (await server.send('prepare_file', prepare(size))).body.id;
    const upload = (file_id: string, size: number) =>
      server.call('PUT', pathOf('upload_file', { params: { ...params, file_id } }), {
        as,
        body: Buffer.alloc(size),
      });
    const download = (file_id: string) =>
      server.call('GET', pathOf('download_file', { params: { ...params, file_id } }), { as });
    const files = async () =>
      (await server.send('list_files', { as, params, query: { limit: '100' } })).body.files;
    const remove = (file_id: string) =>
      server.send('delete_file', { as, params: { ...params, file_id } });
    return { prepare, prepared, upload, download, files, remove };
  }

  const full = { status: 409, error: 'storage_limit_reached' };

  test('bounds the declared sizes of files, and other tenants have their own', async () => {
    const mine = await openTenant();
    const first = await mine.prepared(60 * kibibyte);
    expect(await server.refused('prepare_file', mine.prepare(50 * kibibyte))).toMatchObject(full);
    expect(await mine.files()).toHaveLength(1);
    const other = await openTenant(bystander);
    const file = await other.prepared(90 * kibibyte);
    expect((await other.upload(file, 90 * kibibyte)).status).toBe(200);
    expect((await mine.upload(first, 60 * kibibyte)).status).toBe(200);
    await mine.remove(first);
    await mine.prepared(50 * kibibyte);
  });

  test('bounds prepared files without bytes', async () => {
    const { prepare, prepared, files } = await openTenant();
    for (let count = 0; count < 25; count += 1) await prepared();
    expect(await server.refused('prepare_file', prepare())).toMatchObject(full);
    expect(await files()).toHaveLength(25);
  });

  test('bounds uploads of undeclared size, and a refused one changes nothing', async () => {
    const { prepared, upload, files } = await openTenant();
    const file = await prepared();
    const refused = await upload(file, most + 1);
    expect([refused.status, JSON.parse(refused.text).error]).toEqual([409, full.error]);
    expect(await files()).toMatchObject([{ status: 'pending' }]);
    expect((await upload(file, most)).status).toBe(200);
  });

  test('lets the same bytes arrive several times at once, and keeps them', async () => {
    const { prepared, upload, download } = await openTenant();
    const file = await prepared();
    // Twice as many bytes have no room.
    const size = 60 * kibibyte;
    const uploads = await Promise.all(Array.from({ length: 4 }, () => upload(file, size)));
    expect(uploads.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await download(file)).bytes).toHaveLength(size);
  });

  test('is not exceeded by files that are prepared or uploaded at once', async () => {
    const { prepare, prepared, upload, files } = await openTenant();
    const ids = [await prepared(), await prepared(), await prepared()];
    const uploads = await Promise.all(ids.map((id) => upload(id, 50 * kibibyte)));
    // Each of the others holds the 4 KiB of a prepared file.
    expect(uploads.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    const asked = Array.from({ length: 8 }, () => {
      const { body, params = {}, as = {} } = prepare(20 * kibibyte);
      return server.call('POST', pathOf('prepare_file', { params }), { as, body });
    });
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(2);
    expect(await files()).toHaveLength(5);
  });
});

test('a tenant that uploads without end fills the disk to its bound, and others are served', async () => {
  const server = await startServer({ env: { CONVOKE_TENANT_STORAGE_BYTES: String(most) } });
  const bystander = await addBystander(server);
  const { id } = await openSession(server, 'echo', { as: bystander });
  const look = () => server.send('list_files', { as: bystander, params: { session_id: id } });
  const [mine, theirs] = [await openSession(server, 'echo'), { session_id: id }];
  const params = { session_id: mine.id };
  const prepared = await Promise.all(
    Array.from({ length: 20 }, () =>
      server.send('prepare_file', { params, body: { name: 'a.bin' } }),
    ),
  );
  await medianWork(20, look);
  const quiet = await medianWork(21, look);
  const statuses: number[] = [];
  const underAttack = async () => {
    const uploads: Promise<{ status: number }>[] = [];
    const work = await medianWork(5, () => {
      for (const { body } of prepared.slice(uploads.length, uploads.length + 4)) {
        const path = pathOf('upload_file', { params: { ...params, file_id: body.id } });
        uploads.push(server.call('PUT', path, { body: Buffer.alloc(40 * kibibyte) }));
      }
      return look();
    });
    for (const { status } of await Promise.all(uploads)) statuses.push(status);
    return work;
  };
  const below = 60 * quiet;
  expect(await leastOf(underAttack, { below })).toBeLessThan(below);
  // The first file has room beside the 4 KiB of each prepared one.
  expect(statuses.filter((status) => status === 200).length).toBeLessThan(3);
  expect(await bytesBelow(join(server.config.dataDir, 'blobs'))).toBeLessThanOrEqual(most);
  const { body: file } = await server.send('prepare_file', {
    as: bystander,
    params: theirs,
    body: { name: 'b.bin' },
  });
  const path = pathOf('upload_file', { params: { ...theirs, file_id: file.id } });
  const upload = await server.call('PUT', path, { as: bystander, body: Buffer.alloc(kibibyte) });
  expect(upload.status).toBe(200);
});

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const write = (name: string, length: number) => ({
  tool: { name: 'write_file', input: { path: `outputs/${name}`, text: 'x'.repeat(length) } },
});

test('an output that does not fit is not taken, and the run completes', async () => {
  const server = await startServer({
    env: { CONVOKE_TENANT_STORAGE_BYTES: String(most) },
    agents: {
      writer: {
        session_files: true,
        script: [write('small.txt', 1), write('large.txt', most + 1)],
      },
    },
  });
  const { run, session } = await begin(server, 'writer');
  expect((await ended(server, run)).status).toBe('completed');
  const { body } = await server.send('list_files', { params: { session_id: session.id } });
  expect(body.files.map(({ name }) => name)).toEqual(['small.txt']);
});
