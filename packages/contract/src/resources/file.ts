import { z } from 'zod';
import { limits } from '../limits.ts';
import { codePoints } from '../text.ts';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';

export const fileStatuses = ['pending', 'ready'] as const;
export type FileStatus = (typeof fileStatuses)[number];

/** A file of a session: declared first, ready once its bytes have arrived (D-40). */
export const fileRecord = z
  .object({
    id: opaqueId('file'),
    session_id: opaqueId('session'),
    name: z.string().meta({ examples: ['report.pdf'] }),
    content_type: z.string().meta({ examples: ['application/pdf'] }),
    size_bytes: z.int().min(0).optional(),
    sha256: z.string().optional(),
    status: z.enum(fileStatuses),
    created_at: timestamp,
  })
  .meta({ id: 'File', description: 'A file attached to a session.' });

export type FileRecord = z.infer<typeof fileRecord>;

export const fileList = z.object({ files: z.array(fileRecord), next_cursor: nextCursor });

/** D-40: a name that is safe as the last segment of a path on every system. */
export const fileName = z
  .string()
  .refine(isFileName, {
    error: `must be 1 to ${limits.fileNameMaxCharacters} characters without slashes or control characters, and not "." or ".."`,
  })
  .meta({
    minLength: 1,
    maxLength: limits.fileNameMaxCharacters,
    pattern: '^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f/\\\\]*$',
  });

const forbiddenInFileName = /[\u0000-\u001f\u007f/\\]/;

export function isFileName(name: string): boolean {
  if (name === '.' || name === '..' || forbiddenInFileName.test(name)) return false;
  const length = codePoints(name);
  return length >= 1 && length <= limits.fileNameMaxCharacters && name.isWellFormed();
}
