import { clientId, credentialId } from '@convoke/contract';
import type { Credential } from '../../domain/credential.ts';
import type { CredentialRepository } from '../../ports/repositories/credentials.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function credentialRepository(db: Transaction): CredentialRepository {
  return {
    async insert(credential) {
      await db.run(sql`
        insert into credentials (id, client_record_id, label, secret_hmac, secret_hint, created_at,
          expires_at, revoked_at, last_used_at)
        values (${credential.id}, ${credential.clientId}, ${credential.label},
          ${credential.secretHmac}, ${credential.secretHint}, ${credential.createdAt},
          ${credential.expiresAt}, ${credential.revokedAt}, ${credential.lastUsedAt})`);
    },
    async find(client, id) {
      const row = await db.get<CredentialRow>(sql`
        select ${columns} from credentials where id = ${id} and client_record_id = ${client}`);
      return row && toCredential(row);
    },
    async first(client) {
      const row = await db.get<CredentialRow>(sql`
        select ${columns} from credentials where client_record_id = ${client}
        order by id limit 1`);
      return row && toCredential(row);
    },
    async list(client) {
      const rows = await db.all<CredentialRow>(sql`
        select ${columns} from credentials where client_record_id = ${client}
        order by case when revoked_at is null then 0 else 1 end, id desc limit ${listedMax}`);
      return rows.map(toCredential);
    },
    async revoke(id, now) {
      const changed = await db.run(
        sql`update credentials set revoked_at = ${now} where id = ${id} and revoked_at is null`,
      );
      return changed === 1;
    },
    async revokeAll(client, now) {
      await db.run(sql`
        update credentials set revoked_at = ${now}
        where client_record_id = ${client} and revoked_at is null`);
    },
    async live(client, now) {
      const rows = await db.all<CredentialRow>(sql`
        select ${columns} from credentials
        where client_record_id = ${client} and revoked_at is null and expires_at > ${now}
        order by id desc limit ${listedMax}`);
      return rows.map(toCredential);
    },
    async markUsed(id, now) {
      await db.run(sql`
        update credentials set last_used_at = ${now}
        where id = ${id} and (last_used_at is null or last_used_at < ${now})`);
    },
  };
}

/** At most two are valid; the others are revoked or expired. */
const listedMax = 100;

const columns = sql`id, client_record_id, label, secret_hmac, secret_hint, created_at, expires_at,
  revoked_at, last_used_at`;

interface CredentialRow {
  id: string;
  client_record_id: string;
  label: string;
  secret_hmac: string;
  secret_hint: string;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
  last_used_at: number | null;
}

function toCredential(row: CredentialRow): Credential {
  return {
    id: credentialId(row.id),
    clientId: clientId(row.client_record_id),
    label: row.label,
    secretHmac: row.secret_hmac,
    secretHint: row.secret_hint,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
