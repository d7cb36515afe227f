import type { Client } from './client.ts';

export interface OpenedStream {
  readonly path: string;
  /** Of the request that asks for the stream; without one it is read. */
  readonly body?: () => unknown;
}

/** Opens streams that say nothing. Resolves when all are open, to what closes them. */
export async function openStreams(
  client: Client,
  count: number,
  { path, body }: OpenedStream,
): Promise<() => Promise<void>> {
  const leaving = new AbortController();
  const opened = Array.from({ length: count }, () => Promise.withResolvers<void>());
  const reading = opened.map(({ resolve, reject }) =>
    client
      .text(path, {
        onOpen: resolve,
        signal: leaving.signal,
        ...(body !== undefined && { body: body() }),
      })
      .then(() => reject(new Error('an idle stream ended')), reject),
  );
  await Promise.all(opened.map(({ promise }) => promise));
  return async () => {
    leaving.abort();
    await Promise.all(reading);
  };
}
