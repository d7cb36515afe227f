import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import {
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
  createServer,
} from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// @ts-expect-error -- it brings no types
import untyped from 's3rver';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';

/** The part of its interface used here. */
const S3rver = untyped as new (options: {
  readonly directory: string;
  readonly silent: boolean;
  readonly vhostBuckets: boolean;
  readonly allowMismatchedSignatures: boolean;
}) => {
  readonly store: { putBucket(name: string): Promise<void> };
  callback(): RequestListener;
};

/** Sees each request before the store; returns true if it has answered the request itself. */
export type Interception = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface S3Server {
  readonly endpoint: string;
  /** Every request as `METHOD /path?query`. */
  readonly requests: string[];
  intercept(interception: Interception | undefined): void;
  makeBucket(name: string): Promise<void>;
  /** Settings of a server of ours that keeps its files here. */
  env(bucket: string): Record<string, string>;
  stop(): Promise<void>;
}

/** The key that s3rver knows; the SDK finds it where an operator would put it. */
const knownKey = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

/** An S3 store of its own, on a free port; stopped and removed after the file's tests. */
export async function startS3({ listsAtMost }: { listsAtMost?: number } = {}): Promise<S3Server> {
  Object.assign(process.env, knownKey);
  const directory = await mkdtemp(join(tmpdir(), 'convoke-s3-'));
  const store = new S3rver({
    directory,
    silent: true,
    vhostBuckets: false,
    // The bound on its lists is slipped into requests that were signed without it.
    allowMismatchedSignatures: listsAtMost !== undefined,
  });
  const answer = store.callback();
  const requests: string[] = [];
  let intercepting: Interception | undefined;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (intercepting?.(request, response) === true) return;
    if (listsAtMost !== undefined && request.url?.includes('?prefix=') === true) {
      request.url += `&max-keys=${listsAtMost}`;
    }
    answer(request, response);
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const endpoint = `http://127.0.0.1:${address.port}`;
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  atFileEnd(async () => {
    for (const name of Object.keys(knownKey)) Reflect.deleteProperty(process.env, name);
    await stop();
    await removeFolder(directory);
  });
  return {
    endpoint,
    requests,
    stop,
    intercept: (interception) => (intercepting = interception),
    makeBucket: (name) => store.store.putBucket(name),
    env: (bucket) => ({
      CONVOKE_BLOBS: `s3://${bucket}`,
      CONVOKE_S3_ENDPOINT: endpoint,
      CONVOKE_S3_PATH_STYLE: 'on',
    }),
  };
}
