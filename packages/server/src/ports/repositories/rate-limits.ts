/** Token buckets in the database, shared by all servers. Times are in microseconds. */
export interface RateLimitRepository {
  /** Takes one token, if there is one, in a single statement. */
  take(bucket: BucketRequest): Promise<BucketState>;
  /** Deletes at most `limit` buckets that are full: an absent bucket is full. True when there may be more. */
  removeFull(nowUs: number, limit: number): Promise<boolean>;
}

export interface BucketRequest {
  readonly key: string;
  readonly nowUs: number;
  /** Time in which one token is refilled. */
  readonly tokenUs: number;
  /** Time in which an empty bucket is refilled. */
  readonly capacityUs: number;
}

export interface BucketState {
  readonly taken: boolean;
  /** When the bucket is full again. */
  readonly fullAtUs: number;
}
