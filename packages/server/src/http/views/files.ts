import type { FileRecord } from '@convoke/contract';
import type { File } from '../../domain/file.ts';
import { isoTime } from '../../domain/iso-time.ts';

/** A file as the API shows it (D-40). */
export function fileView(file: File): FileRecord {
  return {
    id: file.id,
    session_id: file.sessionId,
    name: file.name,
    content_type: file.contentType,
    size_bytes: file.sizeBytes ?? undefined,
    sha256: file.sha256 ?? undefined,
    status: file.status,
    created_at: isoTime(file.createdAt),
  };
}
