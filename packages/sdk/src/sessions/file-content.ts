import type { Body } from '../transport/transport.ts';

/** Content that can be read more than once, such as a `Blob` or a `File`. */
export interface FileSource {
  readonly name?: string;
  readonly type?: string;
  readonly size?: number;
  stream(): ReadableStream<Uint8Array>;
}

/** A stream can be read only once, so an upload of one is not retried. */
export type FileContent = FileSource | Uint8Array | ReadableStream<Uint8Array>;

export interface Progress {
  readonly sentBytes: number;
  /** Undefined for a stream of unknown length. */
  readonly totalBytes: number | undefined;
}

type OnProgress = ((progress: Progress) => void) | undefined;

export interface OpenContent {
  readonly name: string | undefined;
  readonly type: string | undefined;
  readonly size: number | undefined;
  readonly isRepeatable: boolean;
  body(onProgress: OnProgress): Body;
}

/** Size of a chunk, so that progress is visible. */
const pieceBytes = 64 * 1024;

export async function openContent(content: FileContent): Promise<OpenContent> {
  const source = sourceOf(content);
  const facts = {
    name: source.name,
    type: source.type === '' ? undefined : source.type,
    size: source.size,
    isRepeatable: !(content instanceof ReadableStream),
  };
  if (canStream()) {
    // Content that needs no streaming and no progress is sent as it is, with its length.
    const whole = content instanceof Blob || content instanceof Uint8Array ? content : undefined;
    return {
      ...facts,
      body: (onProgress) =>
        whole !== undefined && onProgress === undefined
          ? wholeBody(whole)
          : counted(source.stream(), source.size, onProgress),
    };
  }
  const blob = content instanceof Blob ? content : await new Response(source.stream()).blob();
  return { ...facts, size: blob.size, body: (onProgress) => noted(blob, onProgress) };
}

/** Whether request bodies can be streams. Browsers support them not at all or only over HTTP/2. */
function canStream(): boolean {
  return !('XMLHttpRequest' in globalThis);
}

function sourceOf(content: FileContent): FileSource {
  if (content instanceof ReadableStream) return { stream: () => content };
  if (content instanceof Uint8Array) {
    return { size: content.byteLength, stream: () => streamOf(content) };
  }
  return content;
}

/** Platform types differ in the buffers that a view may use; fetch accepts all of them. */
function wholeBody(whole: Blob | Uint8Array): Body {
  return whole as Body;
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

/** Passes the stream on in chunks, with backpressure, and reports progress. */
function counted(
  stream: ReadableStream<Uint8Array>,
  totalBytes: number | undefined,
  onProgress: OnProgress,
): Body {
  if (onProgress === undefined) return stream;
  const reader = stream.getReader();
  let rest = new Uint8Array() as Uint8Array;
  let sentBytes = 0;
  onProgress({ sentBytes, totalBytes });
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      while (rest.byteLength === 0) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        rest = value;
      }
      const piece = rest.subarray(0, pieceBytes);
      rest = rest.subarray(pieceBytes);
      sentBytes += piece.byteLength;
      controller.enqueue(piece);
      onProgress({ sentBytes, totalBytes });
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Reports only the start, because the body is not streamed. */
function noted(blob: Blob, onProgress: OnProgress): Body {
  onProgress?.({ sentBytes: 0, totalBytes: blob.size });
  return blob;
}
