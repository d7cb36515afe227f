import { type FileId, type SessionId, fileId, idPattern, isFileName } from '@convoke/contract';
import { prepareFile, uploadFile } from '../../files/files.ts';
import { refuse } from '../../refusal.ts';
import type { Services } from '../../services.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { FilePart } from './input.ts';

type FileServices = Pick<Services, 'store' | 'clock' | 'ids' | 'settings' | 'blobs' | 'log'>;

export interface MessageFiles {
  readonly sessionId: SessionId;
  readonly files: readonly FilePart[];
  /** Called before the first file is stored; throws where the caller may not. */
  readonly mayStore: () => void;
}

/** The ids of the files of a message. One in a `data:` URL is stored first; nothing is fetched from elsewhere. */
export async function filesOfMessage(
  services: FileServices,
  scope: TenantScope,
  { sessionId, files, mayStore }: MessageFiles,
): Promise<readonly FileId[]> {
  const read = files.map((part) => idIn(part, sessionId) ?? contentIn(part));
  if (read.some((file) => typeof file !== 'string')) mayStore();
  const ids: FileId[] = [];
  for (const file of read) {
    ids.push(typeof file === 'string' ? file : await store(services, scope, { sessionId, file }));
  }
  return ids;
}

/** Names of the files, for a message that says nothing else. */
export function namesOf(files: readonly FilePart[]): string {
  return files.map(({ filename }) => filename ?? unnamed).join(', ');
}

const unnamed = 'file';

interface Content {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** A file of this session, by the end of its address; the server it names does not matter. */
function idIn({ url }: FilePart, sessionId: SessionId): FileId | undefined {
  const [, session, id] = /\/v1\/sessions\/([^/?#]+)\/files\/([^/?#]+)\/content$/.exec(url) ?? [];
  const isOurs = session === sessionId && id !== undefined && idPattern.test(id);
  return isOurs ? fileId(id) : undefined;
}

function contentIn({ url, mediaType, filename = unnamed }: FilePart): Content {
  const [, head = '', text = ''] = /^data:([^,]{0,500}),(.*)$/s.exec(url) ?? elsewhere();
  if (!isFileName(filename)) {
    return refuse('invalid_body', {
      message: 'A file of the message has a name that no file can have.',
    });
  }
  const bytes = head.endsWith(';base64') ? Buffer.from(text, 'base64') : Buffer.from(decoded(text));
  return { name: filename, contentType: typeOf(mediaType), bytes };
}

function elsewhere(): never {
  return refuse('invalid_body', {
    message: 'A file of the message is neither one of this session nor a data: URL.',
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('invalid_body', { message: 'A data: URL of the message is not valid.' });
  }
}

/** A type that can be stored and sent as a header; of any other the bytes are just bytes. */
function typeOf(mediaType: string): string {
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mediaType)
    ? mediaType
    : 'application/octet-stream';
}

async function store(
  services: FileServices,
  scope: TenantScope,
  { sessionId, file }: { readonly sessionId: SessionId; readonly file: Content },
): Promise<FileId> {
  const { name, contentType, bytes } = file;
  const declared = { name, contentType, sizeBytes: bytes.length, sha256: undefined };
  const { id } = await prepareFile(services, scope, { sessionId, ...declared });
  await uploadFile(services, scope, { sessionId, fileId: id, content: partsOf(bytes) });
  return id;
}

async function* partsOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
