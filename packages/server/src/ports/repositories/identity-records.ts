import type { UserId } from '@convoke/contract';

/** One thing that the identity provider remembers, as it is stored: sealed, and named by digests. */
export interface IdentityRecord {
  readonly model: string;
  readonly digest: string;
  readonly userId: string | null;
  readonly grantDigest: string | null;
  readonly uidDigest: string | null;
  readonly userCodeDigest: string | null;
  readonly payload: string;
  readonly consumedAt: number | null;
  readonly expiresAt: number;
}

export interface IdentityRecordRepository {
  /** Writes it, whether or not it was there; what was consumed stays so. */
  save(record: IdentityRecord): Promise<void>;
  find(model: string, digest: string): Promise<IdentityRecord | undefined>;
  findByUid(model: string, uidDigest: string): Promise<IdentityRecord | undefined>;
  findByUserCode(model: string, userCodeDigest: string): Promise<IdentityRecord | undefined>;
  /** False when somebody was faster, or it is gone. */
  consume(model: string, digest: string, now: number): Promise<boolean>;
  remove(model: string, digest: string): Promise<void>;
  removeByGrant(grantDigest: string): Promise<void>;
  /** Signs the person out everywhere. */
  removeByUser(userId: UserId): Promise<void>;
  /** Deletes what has expired, at most `limit`; true when there may be more. */
  removeExpired(now: number, limit: number): Promise<boolean>;
}
