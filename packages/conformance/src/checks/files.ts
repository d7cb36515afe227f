import { type Check, check } from '../check.ts';
import { NotApplicable, ensure, excerpt, same } from '../failure.ts';
import { at, booleanAt, fill, listAt, textAt } from '../fields.ts';
import type { Kit } from '../kit.ts';
import { hasStatus } from '../server.ts';
import { sessionPath } from '../steps.ts';

/** Every byte, so that nothing survives that decodes and encodes. */
const everyByte = Uint8Array.from({ length: 1024 }, (_, index) => (index * 7) % 256);

/** A session that takes files; where the service has none, its checks do not apply. */
export async function sessionWithFiles(kit: Kit): Promise<string> {
  const caller = hasStatus(await kit.app.get('/v1/whoami'), 200).body;
  if (!booleanAt(caller, 'file_attachments_enabled')) {
    throw new NotApplicable('file_attachments_enabled is false');
  }
  const id = await kit.openSession('echo');
  const session = hasStatus(await kit.app.get(sessionPath(id)), 200).body;
  if (!booleanAt(session, 'session_files_supported')) {
    throw new NotApplicable('session_files_supported is false for the agent echo');
  }
  return id;
}

async function prepareFile(kit: Kit, sessionId: string): Promise<string> {
  const body = fill(kit.dialect.file.prepare, { name: 'bytes.bin' });
  const reply = await kit.app.post(sessionPath(sessionId, '/files'), body);
  return sessionPath(
    sessionId,
    `/files/${textAt(hasStatus(reply, 200, 201, 202).body, kit.dialect.file.id)}`,
  );
}

/** Returns the path of the file. */
export async function storedFile(kit: Kit, sessionId: string): Promise<string> {
  const file = await prepareFile(kit, sessionId);
  const headers = { 'content-type': 'application/octet-stream' };
  const upload = { method: 'PUT', path: `${file}/content`, headers, bytes: everyByte };
  hasStatus(await kit.app.send(upload), 200, 201, 204);
  return file;
}

export async function hasBytes(kit: Kit, file: string): Promise<void> {
  const { bytes } = hasStatus(await kit.app.get(`${file}/content`), 200);
  ensure(Buffer.from(everyByte).equals(bytes), `${bytes.length} other bytes came back`);
}

async function filesOf(kit: Kit, sessionId: string): Promise<readonly unknown[]> {
  const reply = await kit.app.get(sessionPath(sessionId, '/files'));
  return listAt(hasStatus(reply, 200).body, kit.dialect.file.list);
}

export const fileChecks: readonly Check[] = [
  check('4.2-prepare-file', 'a file is prepared and gets an id', async (kit) => {
    await prepareFile(kit, await sessionWithFiles(kit));
  }),
  check('4.2-upload', 'the bytes of a file are uploaded', async (kit) => {
    await storedFile(kit, await sessionWithFiles(kit));
  }),
  check('4.2-download', 'the same bytes come back', async (kit) => {
    await hasBytes(kit, await storedFile(kit, await sessionWithFiles(kit)));
  }),
  check('4.2-list-files', 'an uploaded file is listed', async (kit) => {
    const session = await sessionWithFiles(kit);
    const file = await storedFile(kit, session);
    const list = await filesOf(kit, session);
    const isListed = list.some((item) =>
      file.endsWith(`/${String(at(item, kit.dialect.file.id))}`),
    );
    ensure(isListed, `${file} is not in ${excerpt(list)}`);
  }),
  check('4.2-delete-file', 'a deleted file is gone', async (kit) => {
    const session = await sessionWithFiles(kit);
    const file = await storedFile(kit, session);
    hasStatus(await kit.app.send({ method: 'DELETE', path: file }), 200, 202, 204);
    hasStatus(await kit.app.get(`${file}/content`), 404);
    same((await filesOf(kit, session)).length, 0, 'the files of the session');
  }),
  check('4.2-no-files', 'a session without files answers 404', async (kit) => {
    const caller = hasStatus(await kit.app.get('/v1/whoami'), 200).body;
    const isEnabled = booleanAt(caller, 'file_attachments_enabled');
    const id = await kit.openSession('fail');
    const session = hasStatus(await kit.app.get(sessionPath(id)), 200).body;
    if (isEnabled && booleanAt(session, 'session_files_supported')) {
      throw new NotApplicable('every session supports files');
    }
    hasStatus(await kit.app.get(sessionPath(id, '/files')), 404);
    const body = fill(kit.dialect.file.prepare, { name: 'bytes.bin' });
    hasStatus(await kit.app.post(sessionPath(id, '/files'), body), 404);
  }),
];
