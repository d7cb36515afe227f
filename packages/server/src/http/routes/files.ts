import {
  deleteFile,
  downloadFile,
  listFiles,
  prepareFileOnce,
  uploadFile,
} from '../../app/files/files.ts';
import type { Services } from '../../app/services.ts';
import { refuseEncoding, uploaded } from '../bodies/body.ts';
import { hasContent, isRangeOf } from '../conditional.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { idempotencyKeyOf, replayed } from '../idempotency-key.ts';
import { readRange } from '../range.ts';
import { sendParts } from '../answers/send-parts.ts';
import { fileView } from '../views/files.ts';

type FileOperations =
  | 'prepare_file'
  | 'list_files'
  | 'upload_file'
  | 'download_file'
  | 'delete_file';

export function fileRoutes(services: Services, cursors: Cursors): Handlers<FileOperations> {
  return {
    async prepare_file({ caller, params, headers, body, chargeRate }) {
      const prepared = await prepareFileOnce(services, caller.scope, {
        sessionId: params.session_id,
        name: body.name,
        contentType: body.content_type,
        sizeBytes: body.size_bytes,
        sha256: body.sha256,
        idempotencyKey: idempotencyKeyOf(headers, body),
        chargeRate,
      });
      const record = fileView(prepared.resource);
      return prepared.replayed
        ? { status: 200, body: record, headers: replayed }
        : { status: 201, body: record };
    },

    async list_files({ caller, params, query }) {
      const sessionId = params.session_id;
      const { items, next } = await cursors.page(`files:${sessionId}`, query, {
        read: (page) => listFiles(services, caller.scope, { sessionId, page }),
        idOf: (file) => file.id,
      });
      return { status: 200, body: { files: items.map(fileView), ...next } };
    },

    async upload_file({ caller, params, request }) {
      refuseEncoding(request.raw);
      const at = {
        sessionId: params.session_id,
        fileId: params.file_id,
        content: uploaded(request.raw),
      };
      return { status: 200, body: fileView(await uploadFile(services, caller.scope, at)) };
    },

    ...downloadRoute(services),

    async delete_file({ caller, params }) {
      const at = { sessionId: params.session_id, fileId: params.file_id };
      await deleteFile(services, caller.scope, at);
      return { status: 204, body: undefined };
    },
  };
}

function downloadRoute(services: Services): Handlers<'download_file'> {
  return {
    async download_file({ caller, params, headers, request }) {
      const at = { sessionId: params.session_id, fileId: params.file_id };
      const { file, open } = await downloadFile(services, caller.scope, at);
      const etag = `"${file.sha256}"`;
      if (hasContent(headers['if-none-match'], etag)) {
        return { status: 304, body: undefined, headers: { etag } };
      }
      // RFC 9110 section 14.2: only GET has ranges.
      const isHead = request.raw.method === 'HEAD';
      const asksRange = !isHead && isRangeOf(headers['if-range'], etag);
      const range = asksRange ? readRange(headers.range, file.sizeBytes) : undefined;
      // Opened before the headers are sent, so that a missing blob still gets an error response.
      const content = isHead ? [] : await open(range);
      const length = range === undefined ? file.sizeBytes : range.end - range.start + 1;
      return {
        async write(response, base) {
          response.writeHead(range === undefined ? 200 : 206, {
            ...base,
            'content-type': file.contentType,
            'content-length': String(length),
            'content-disposition': `attachment; filename*=UTF-8''${encodeName(file.name)}`,
            'accept-ranges': 'bytes',
            etag,
            ...(range === undefined
              ? {}
              : { 'content-range': `bytes ${range.start}-${range.end}/${file.sizeBytes}` }),
          });
          await sendParts(response, content, services.clock);
        },
      };
    },
  };
}

/** Encodes a file name by RFC 8187, which also excludes some characters that `encodeURIComponent` keeps. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
