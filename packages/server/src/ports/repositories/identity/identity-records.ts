import type { UserId } from '@convoke/contract';

/** A stored record of the identity provider: the payload is sealed, and lookups use digests. */
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
  /** Inserts or replaces the record; a consumed one stays consumed. */
  save(record: IdentityRecord): Promise<void>;
  find(model: string, digest: string): Promise<IdentityRecord | undefined>;
  findByUid(model: string, uidDigest: string): Promise<IdentityRecord | undefined>;
  findByUserCode(model: string, userCodeDigest: string): Promise<IdentityRecord | undefined>;
  /** False when the record was already consumed or is gone. */
  consume(model: string, digest: string, now: number): Promise<boolean>;
  /** Gives a consumed record that is still there another id and payload; false when it is gone or has expired. */
  renew(record: RenewedRecord, now: number): Promise<boolean>;
  /** False when the record was gone. */
  remove(model: string, digest: string): Promise<boolean>;
  removeByGrant(grantDigest: string): Promise<void>;
  /** How many of a kind have not expired. */
  count(model: string, now: number): Promise<number>;
  /** The records of a person that are neither consumed nor expired, newest expiry first. */
  ofUser(userId: UserId, now: number): Promise<IdentityRecord[]>;
  /** Signs the person out of every session. */
  removeByUser(userId: UserId): Promise<void>;
  /** Deletes at most `limit` expired records; true when there may be more. */
  removeExpired(now: number, limit: number): Promise<boolean>;
}

export type RenewedRecord = Pick<IdentityRecord, 'model' | 'digest' | 'uidDigest' | 'payload'>;
