import type { FileRecord } from '../generated/records.ts';
import type { PageQuery, PrepareFile } from '../generated/requests.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';
import { type FileContent, type OpenContent, type Progress, openContent } from './file-content.ts';

export interface PutOptions extends CallOptions {
  /** How much was handed to the network; the last call says that the service has it all. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface UploadOptions extends PutOptions {
  /** Needed unless the content has a name of its own, as a `File` has. */
  readonly name?: string | undefined;
  readonly contentType?: string | undefined;
  /** Lower-case hex. The service refuses other bytes. */
  readonly sha256?: string | undefined;
}

export interface DownloadOptions extends CallOptions {
  /** The first and the last byte wanted, counted from zero. */
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
      // A file without content is of no use, but it would count. Whether this works changes nothing.
      await this.#discard(prepared.id);
      throw error;
    }
  }

  /** Announces a file; `put` gives it its content. */
  prepare(file: PrepareFile, { signal }: CallOptions = {}): Promise<FileRecord> {
    return this.#transport.json({ method: 'POST', path: this.#path, json: file, signal });
  }

  /** Uploads the content of a prepared file. The same bytes again are fine. */
  async put(id: string, content: FileContent, options: PutOptions = {}): Promise<FileRecord> {
    return this.#send(id, await openContent(content), options);
  }

  /**
   * The content, as the answer of fetch: `.body` is the stream, `.blob()` and `.text()` read it whole.
   *
   * @example
   * const answer = await session.files.download(file.id);
   * await pipeline(answer.body, createWriteStream('copy.csv'));
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

  /** Newest first. */
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
