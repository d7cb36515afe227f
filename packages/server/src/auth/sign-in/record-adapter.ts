import { createHmac } from 'node:crypto';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { Services } from '../../app/services.ts';
import type { IdentityRecord } from '../../ports/repositories/identity/identity-records.ts';
import type { Sealing } from '../sealing.ts';

/**
 * Stores the sessions, codes and refresh tokens of the identity provider in our database. Their ids are the secrets
 * that the provider issues, so an id is stored as a keyed digest, and the payload, which repeats the id, is encrypted:
 * a copy of the database is not enough to sign in.
 */
export interface RecordParts extends Pick<Services, 'store' | 'clock'> {
  readonly sealing: Sealing;
  readonly digestKey: Uint8Array;
  /** The error for a second use of a record, which the protocol forbids. */
  readonly onReused: () => Error;
}

export function createRecordAdapter(model: string, parts: RecordParts): Adapter {
  const { store, clock, sealing, digestKey, onReused } = parts;
  const digestOf = (kind: string, text: string) =>
    createHmac('sha256', digestKey).update(`${kind}\0${text}`).digest('base64url');
  const named = (id: string) => digestOf(model, id);
  const digestOrNull = (kind: string, text: string | undefined) =>
    text === undefined ? null : digestOf(kind, text);

  function open(record: IdentityRecord | undefined): AdapterPayload | undefined {
    const text = record && sealing.unseal(`${model} ${record.digest}`, record.payload);
    if (record === undefined || text === undefined) return undefined;
    const payload = JSON.parse(text) as AdapterPayload;
    if (record.consumedAt === null) return payload;
    return { ...payload, consumed: Math.floor(record.consumedAt / 1000) };
  }

  return {
    async upsert(id, saved, expiresIn) {
      // The library marks a user code as used when a person continues with it. It is used when they approved or denied.
      const { inFlight: _, ...payload } = saved;
      const digest = named(id);
      const lifetimeMs = (expiresIn ?? fallbackSeconds) * 1000;
      await store.transaction((tx) =>
        tx.identityRecords.save({
          model,
          digest,
          userId: payload.accountId ?? null,
          grantDigest: digestOrNull(
            'grant',
            payload.grantId ?? (model === 'Grant' ? id : undefined),
          ),
          uidDigest: digestOrNull('uid', payload.uid),
          userCodeDigest: digestOrNull('user code', payload.userCode),
          payload: sealing.seal(`${model} ${digest}`, JSON.stringify(payload)),
          consumedAt: null,
          expiresAt: clock.now() + lifetimeMs,
        }),
      );
    },
    async find(id) {
      return open(await store.read.identityRecords.find(model, named(id)));
    },
    async findByUid(uid) {
      return open(await store.read.identityRecords.findByUid(model, digestOf('uid', uid)));
    },
    async findByUserCode(userCode) {
      const digest = digestOf('user code', userCode);
      return open(await store.read.identityRecords.findByUserCode(model, digest));
    },
    async consume(id) {
      const now = clock.now();
      const isFirst = await store.transaction((tx) =>
        tx.identityRecords.consume(model, named(id), now),
      );
      if (!isFirst) throw onReused();
    },
    async destroy(id) {
      await store.transaction((tx) => tx.identityRecords.remove(model, named(id)));
    },
    async revokeByGrantId(grantId) {
      const digest = digestOf('grant', grantId);
      await store.transaction((tx) => tx.identityRecords.removeByGrant(digest));
    },
  };
}

/** Lifetime of a record for which the library sets none: no record is kept for ever. */
const fallbackSeconds = 24 * 3600;
