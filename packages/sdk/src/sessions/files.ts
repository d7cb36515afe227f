import type { FileRecord } from '../generated/records.ts';
import type { PageQuery, PrepareFile } from '../generated/requests.ts';
import { type IdempotentOptions, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';
import { type FileContent, type OpenContent, type Progress, openContent } from './file-content.ts';

/** The key is an option of the call. */
export type NewFile = Omit<PrepareFile, 'idempotency_key'>;

export interface PutOptions extends CallOptions {
  /** Called with the number of bytes sent; the last call means that the service has the complete file. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface UploadOptions extends PutOptions {
  /** Required unless the content has a name, as a `File` does. */
  readonly name?: string | undefined;
  readonly contentType?: string | undefined;
  /** Lower-case hex. The service rejects content with another digest. */
  readonly sha256?: string | undefined;
}

export interface DownloadOptions extends CallOptions {
  /** First and last byte, counted from zero. */
  readonly range?: { readonly start: number; readonly end?: number } | undefined;
}

/** The files of one session. */
export class Files {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, sessionId: string) {
    this.#transport = transport;
    this.#path = at`/v1/sessions/${sessionId}/files`;
  }

  /**
   * Uploads a file. From a path: `upload(await openFile('report.pdf'))`, with `openFile` from
   * `@convoke/sdk/node`.
   *
   * @example
   * const file = await session.files.upload(new Blob(['a,b\n']), { name: 'table.csv' });
   * await session.run('Look at the table.', { files: [file.id] });
   */
  async upload(content: FileContent, options: UploadOptions = {}): Promise<FileRecord> {
    const opened = await openContent(content);
    const { name = opened.name, contentType = opened.type, sha256, signal } = options;
    if (name === undefined) throw new TypeError('upload() needs a name for this content');
    const prepared = await this.prepare(
      { name, content_type: contentType, size_bytes: opened.size, sha256 },
      { signal },
    );
    try {
      return await this.#send(prepared.id, opened, options);
    } catch (error) {
      // A file without content is useless, but counts towards the limit. Ignore a failure of this cleanup.
      await this.#discard(prepared.id);
      throw error;
    }
  }

  /** Creates a file upload; `put` uploads the content. */
  prepare(file: NewFile, options: IdempotentOptions = {}): Promise<FileRecord> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'POST',
      path: this.#path,
      json: { ...file, idempotency_key: idempotencyKey },
      repeatable: 'always',
      signal,
    });
  }

  /** Uploads the content of a prepared file. Uploading the same bytes again succeeds. */
  async put(id: string, content: FileContent, options: PutOptions = {}): Promise<FileRecord> {
    return this.#send(id, await openContent(content), options);
  }

  /**
   * Returns the `Response` of fetch: `.body` is the stream, `.blob()` and `.text()` read all of it.
   *
   * @example
   * const response = await session.files.download(file.id);
   * await pipeline(response.body, createWriteStream('copy.csv'));
   */
  download(id: string, { range, signal }: DownloadOptions = {}): Promise<Response> {
    const wanted = range === undefined ? {} : { range: `bytes=${range.start}-${range.end ?? ''}` };
    return this.#transport.open({
      method: 'GET',
      path: `${this.#at(id)}/content`,
      headers: { accept: '*/*', ...wanted },
      signal,
    });
  }

  /** Lists the files, newest first. */
  list(query: PageQuery & CallOptions = {}): Listing<FileRecord> {
    return new Listing(this.#transport, { path: this.#path, key: 'files' }, query);
  }

  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.remove({ path: this.#at(id), signal });
  }

  async #send(
    id: string,
    content: OpenContent,
    { onProgress, signal }: PutOptions,
  ): Promise<FileRecord> {
    const file = await this.#transport.json<FileRecord>({
      method: 'PUT',
      path: `${this.#at(id)}/content`,
      headers: { 'content-type': 'application/octet-stream' },
      content: () => content.body(onProgress),
      repeatable: content.isRepeatable ? 'always' : 'never',
      timeoutMs: 0,
      signal,
    });
    onProgress?.({ sentBytes: file.size_bytes ?? 0, totalBytes: file.size_bytes });
    return file;
  }

  #at(id: string): string {
    return `${this.#path}${at`/${id}`}`;
  }

  async #discard(id: string): Promise<void> {
    await this.#transport.remove({ path: this.#at(id), attempts: 1 }).catch(() => {});
  }
}
