// Steps of tests with files: prepare, upload, download and list, on a small bound of bytes.
import { createHash } from 'node:crypto';
import type { FileRecord, SessionRecord } from '@convoke/contract';
import { usualAgents } from '../support/agents.ts';
import { openSession } from '../support/api-steps.ts';
import { type Deployment, type TestServer, startServer } from '../support/server.ts';

export const maxBytes = 64 * 1024;
export const sha256 = (bytes: Uint8Array | string) =>
  createHash('sha256').update(bytes).digest('hex');
export const place = (file: FileRecord) => ({ session_id: file.session_id, file_id: file.id });
export const contentPath = (file: FileRecord) =>
  `/v1/sessions/${file.session_id}/files/${file.id}/content`;

export interface FilePlace {
  readonly server: TestServer;
  readonly session: SessionRecord;
}

/** A server with an agent that reads files, and a session for them. */
export async function openFilePlace(database: Deployment): Promise<FilePlace> {
  const server = await startServer({
    database,
    agents: {
      ...usualAgents,
      reader: {
        session_files: true,
        script: [{ tool: { name: 'read_file', input: { path: 'files/{{prompt}}' } } }],
      },
    },
    env: { CONVOKE_MAX_FILE_BYTES: String(maxBytes) },
  });
  return { server, session: await openSession(server, 'echo') };
}

/** The steps at the place that `at` returns once it is open. */
export function fileSteps(at: () => FilePlace) {
  const prepare = async (body: object, of = at().session) =>
    (await at().server.send('prepare_file', { params: { session_id: of.id }, body })).body;
  const upload = async (file: FileRecord, body: Uint8Array | string) =>
    at().server.send('upload_file', { params: place(file), body });
  const uploaded = async (name: string, body: Uint8Array | string, of = at().session) => {
    const file = await prepare({ name }, of);
    return (await upload(file, body)).body;
  };
  const download = async (file: FileRecord, headers: Record<string, string> = {}) =>
    at().server.call('GET', contentPath(file), { headers });
  const list = async (of = at().session) =>
    (await at().server.send('list_files', { params: { session_id: of.id } })).body.files;
  return { prepare, upload, uploaded, download, list };
}
