import type {
  SigningKey,
  SigningKeyRepository,
} from '../../../ports/repositories/identity/signing-keys.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

export function signingKeyRepository(db: Transaction): SigningKeyRepository {
  return {
    async insert(key) {
      await db.run(sql`
        insert into signing_keys (kid, public_jwk, sealed_private_jwk, created_at, signs_from,
          retires_at)
        values (${key.kid}, ${key.publicJwk}, ${key.sealedPrivateJwk}, ${key.createdAt},
          ${key.signsFrom}, ${key.retiresAt})`);
    },
    async list() {
      const rows = await db.all<SigningKeyRow>(sql`
        select kid, public_jwk, sealed_private_jwk, created_at, signs_from, retires_at
        from signing_keys order by signs_from desc, kid limit ${keysMax}`);
      return rows.map(toSigningKey);
    },
    async retireOthers(kid, retiresAt) {
      await db.run(sql`
        update signing_keys set retires_at = ${retiresAt}
        where kid <> ${kid} and retires_at is null`);
    },
    async removeRetired(before) {
      await db.run(sql`delete from signing_keys where retires_at < ${before}`);
    },
    async remove(kid) {
      return (await db.run(sql`delete from signing_keys where kid = ${kid}`)) === 1;
    },
  };
}

/** Rotation keeps about three; many more would mean that retired keys are not removed. */
const keysMax = 100;

interface SigningKeyRow {
  kid: string;
  public_jwk: string;
  sealed_private_jwk: string;
  created_at: number;
  signs_from: number;
  retires_at: number | null;
}

function toSigningKey(row: SigningKeyRow): SigningKey {
  return {
    kid: row.kid,
    publicJwk: row.public_jwk,
    sealedPrivateJwk: row.sealed_private_jwk,
    createdAt: row.created_at,
    signsFrom: row.signs_from,
    retiresAt: row.retires_at,
  };
}
