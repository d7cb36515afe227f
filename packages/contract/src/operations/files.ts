import { z } from 'zod';
import { fileIdSchema, sessionIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { fileList, fileName, fileRecord } from '../resources/file.ts';
import { pageQuery } from '../resources/page.ts';
import { idempotencyKey, idempotencyKeyHeader, replayedHeader } from './idempotency.ts';

const ofSession = { session_id: sessionIdSchema } as const;
const ofFile = { session_id: sessionIdSchema, file_id: fileIdSchema } as const;

export const prepareFile = defineOperation({
  id: 'prepare_file',
  method: 'POST',
  path: '/v1/sessions/{session_id}/files',
  tag: 'Files',
  summary: 'Create a file upload',
  description:
    'Upload the content next. The upload is checked against a size or digest that you declare here.',
  caller: 'automation',
  scope: 'files:write',
  params: ofSession,
  headers: idempotencyKeyHeader,
  body: z.strictObject({
    name: fileName.meta({ examples: ['report.pdf'] }),
    content_type: z
      .string()
      .max(limits.contentTypeMaxCharacters)
      .regex(/^[\w.+-]+\/[\w.+-]+(;[\x20-\x7e]*)?$/)
      .default('application/octet-stream'),
    size_bytes: z.int().min(0).optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional(),
    idempotency_key: idempotencyKey,
  }),
  bodyRequired: true,
  responses: {
    201: { description: 'The file record; the content is not uploaded yet.', schema: fileRecord },
    200: {
      description: 'The file that an earlier request with this key created, as it is now.',
      schema: fileRecord,
      headers: replayedHeader,
    },
  },
  errors: [
    'files_unavailable',
    'session_terminal',
    'idempotency_conflict',
    'file_too_large',
    'file_limit_reached',
    'storage_limit_reached',
  ],
});

export const listFiles = defineOperation({
  id: 'list_files',
  method: 'GET',
  path: '/v1/sessions/{session_id}/files',
  tag: 'Files',
  summary: 'List the files of a session',
  description: 'Lists attached files, and the files that the agent wrote to `outputs/`.',
  caller: 'automation',
  scope: 'files:read',
  params: ofSession,
  query: z.strictObject(pageQuery),
  responses: { 200: { description: 'One page, newest first.', schema: fileList } },
  errors: ['files_unavailable'],
});

export const uploadFile = defineOperation({
  id: 'upload_file',
  method: 'PUT',
  path: '/v1/sessions/{session_id}/files/{file_id}/content',
  tag: 'Files',
  summary: 'Upload the content of a file',
  description: 'Raw bytes of any content type. An interrupted upload stores nothing.',
  caller: 'automation',
  scope: 'files:write',
  params: ofFile,
  content: 'bytes',
  bodyRequired: true,
  responses: { 200: { description: 'The file is ready.', schema: fileRecord } },
  errors: [
    'files_unavailable',
    'session_terminal',
    'content_mismatch',
    'file_too_large',
    'file_already_uploaded',
    'storage_limit_reached',
  ],
});

export const downloadFile = defineOperation({
  id: 'download_file',
  method: 'GET',
  path: '/v1/sessions/{session_id}/files/{file_id}/content',
  tag: 'Files',
  summary: 'Download the content of a file',
  description: 'Returns the bytes as they were uploaded, or one byte range of them.',
  caller: 'automation',
  scope: 'files:read',
  params: ofFile,
  headers: {
    range: z
      .string()
      .meta({ description: 'One byte range, for example `bytes=0-1023`.' })
      .optional(),
    'if-range': z
      .string()
      .meta({ description: 'An `ETag`: the range applies only if the content still has it.' })
      .optional(),
    'if-none-match': z
      .string()
      .meta({
        description: 'One or more `ETag`s: the response is 304 if the content has one of them.',
      })
      .optional(),
  },
  responses: {
    200: {
      description: 'The bytes, with the content type of the file.',
      media: 'application/octet-stream',
      headers: { ETag: 'Changes with the content.', 'Content-Disposition': '`attachment`' },
    },
    206: {
      description: 'The bytes of the range.',
      media: 'application/octet-stream',
      headers: { 'Content-Range': 'The returned byte range.' },
    },
    304: {
      description: 'The content has the `ETag` of If-None-Match.',
      headers: { ETag: 'Changes with the content.' },
    },
  },
  errors: ['files_unavailable', 'file_not_ready', 'range_not_satisfiable'],
});

export const deleteFile = defineOperation({
  id: 'delete_file',
  method: 'DELETE',
  path: '/v1/sessions/{session_id}/files/{file_id}',
  tag: 'Files',
  summary: 'Delete a file',
  description:
    'Deletes the record and its bytes. The copy in the session folder is removed before the next run starts.',
  caller: 'automation',
  scope: 'files:write',
  params: ofFile,
  responses: { 204: { description: 'Deleted.' } },
  errors: ['files_unavailable'],
});
