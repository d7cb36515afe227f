declare module 's3rver' {
  import type { RequestListener } from 'node:http';

  /** What the tests use of it; it brings no types. */
  export default class S3rver {
    constructor(options: {
      readonly directory: string;
      readonly silent: boolean;
      readonly vhostBuckets: boolean;
      readonly allowMismatchedSignatures: boolean;
    });
    readonly store: { putBucket(name: string): Promise<void> };
    callback(): RequestListener;
  }
}
