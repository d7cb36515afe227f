import type { Invitation } from '../../../domain/people/invitation.ts';
import type { InvitationRepository } from '../../../ports/repositories/identity/invitations.ts';
import { type NounRow, nounTable, number, text } from '../../columns.ts';
import { pageOf } from '../../page.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

/** The columns of an invitation: a new field of an invitation is one line here. */
const invitationTable = nounTable<Invitation>('invitations', {
  // biome-ignore format: a table
  fields: {
    id: text('id'),
    organizationId: text('organization_id'),
    secretHmac: text('secret_hmac'),
    role: text('role'),
    email: text('email'),
    createdBy: text('created_by'),
    createdAt: number('created_at'),
    expiresAt: number('expires_at'),
  },
});
const { columns } = invitationTable;

export function invitationRepository(db: Transaction): InvitationRepository {
  return {
    async insert(invitation) {
      await db.run(invitationTable.insert(invitation));
    },
    async find(secretHmac, now) {
      const row = await db.get<NounRow>(sql`
        select ${columns} from invitations
        where secret_hmac = ${secretHmac} and expires_at > ${now}`);
      return row && invitationTable.read(row);
    },
    async list(of, now, page) {
      const rows = await db.all<NounRow>(sql`
        select ${columns} from invitations
        where organization_id = ${of} and expires_at > ${now} ${pageOf(page, 'id')}`);
      return rows.map(invitationTable.read);
    },
    async countOpen(of, now) {
      await db.run(sql`
        delete from invitations where organization_id = ${of} and expires_at <= ${now}`);
      const row = await db.get<{ open: number }>(
        sql`select count(*) as open from invitations where organization_id = ${of}`,
      );
      return row?.open ?? 0;
    },
    async take(of, id, now) {
      const row = await db.get<NounRow>(sql`
        delete from invitations
        where id = ${id} and organization_id = ${of} and expires_at > ${now}
        returning ${columns}`);
      return row && invitationTable.read(row);
    },
    async removeBy(of, person) {
      await db.run(sql`
        delete from invitations where organization_id = ${of} and created_by = ${person}`);
    },
  };
}
