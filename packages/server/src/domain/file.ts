import { type FileId, type FileStatus, type SessionId, isFileName } from '@convoke/contract';
import { type Ruling, accepted, refused } from './refusal.ts';
import type { TenantScope } from './scope.ts';

/** A file is `pending` until its bytes are complete and checked, then `ready` and never changes again. */
export interface File extends TenantScope {
  readonly id: FileId;
  readonly sessionId: SessionId;
  readonly name: string;
  readonly contentType: string;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly status: FileStatus;
  readonly createdAt: number;
}

export interface Content {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** D-41: bytes must be what was declared; the same bytes again are harmless, others are refused. */
export function receiveContent(
  file: File,
  content: Content,
): Ruling<{ file: File; repeated: boolean }> {
  if (file.status === 'ready') {
    return file.sha256 === content.sha256
      ? accepted({ file, repeated: true })
      : refused('file_already_uploaded');
  }
  if (file.sizeBytes !== null && file.sizeBytes !== content.sizeBytes) {
    return refused(
      'content_mismatch',
      `size_bytes was declared ${file.sizeBytes}, received ${content.sizeBytes}`,
    );
  }
  if (file.sha256 !== null && file.sha256 !== content.sha256) {
    return refused(
      'content_mismatch',
      `sha256 was declared ${file.sha256}, received ${content.sha256}`,
    );
  }
  return accepted({ file: { ...file, ...content, status: 'ready' }, repeated: false });
}

/** Bytes of different uploads never share a key, so a lost race cannot overwrite what won. */
export function blobKey(file: Pick<File, 'tenantId' | 'id'>, sha256: string): string {
  return `${blobPrefix(file)}${sha256}`;
}

export function blobPrefix(file: Pick<File, 'tenantId' | 'id'>): string {
  return `${file.tenantId}/${file.id}-`;
}

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** What an agent leaves under `outputs/` becomes a file named after its path, since a name has no folders. */
export function outputFile(path: string): Pick<File, 'name' | 'contentType'> | undefined {
  const name = path.replaceAll('/', '-');
  if (!isFileName(name)) return undefined;
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(contentTypes, ending) ? contentTypes[ending] : undefined;
  return { name, contentType: known ?? 'application/octet-stream' };
}
