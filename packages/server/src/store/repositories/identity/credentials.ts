import type { Credential } from '../../../domain/credential.ts';
import type { CredentialRepository } from '../../../ports/repositories/identity/credentials.ts';
import { type NounRow, nounTable, number, text } from '../../columns.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

/** The columns of a credential: a new field of a credential is one line here. */
const credentialTable = nounTable<Credential>('credentials', {
  // biome-ignore format: a table
  fields: {
    id: text('id'),
    clientId: text('client_record_id'),
    label: text('label'),
    secretHmac: text('secret_hmac'),
    secretHint: text('secret_hint'),
    createdAt: number('created_at'),
    expiresAt: number('expires_at'),
    revokedAt: number('revoked_at'),
    lastUsedAt: number('last_used_at'),
  },
});
const { columns } = credentialTable;

export function credentialRepository(db: Transaction): CredentialRepository {
  return {
    async insert(credential) {
      await db.run(credentialTable.insert(credential));
    },
    async find(client, id) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from credentials where id = ${id} and client_record_id = ${client}`);
      return row && credentialTable.read(row);
    },
    async first(client) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from credentials where client_record_id = ${client}
        order by id limit 1`);
      return row && credentialTable.read(row);
    },
    async list(client) {
      const rows = await db.all<NounRow>(sql`
        select ${columns} from credentials where client_record_id = ${client}
        order by case when revoked_at is null then 0 else 1 end, id desc limit ${listedMax}`);
      return rows.map(credentialTable.read);
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
      const rows = await db.all<NounRow>(sql`
        select ${columns} from credentials
        where client_record_id = ${client} and revoked_at is null and expires_at > ${now}
        order by id desc limit ${listedMax}`);
      return rows.map(credentialTable.read);
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
