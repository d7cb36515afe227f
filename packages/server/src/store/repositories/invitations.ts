import { invitationId, organizationId, userId } from '@convoke/contract';
import type { Invitation } from '../../domain/people/invitation.ts';
import type { Role } from '../../domain/member.ts';
import type { InvitationRepository } from '../../ports/repositories/invitations.ts';
import { pageOf } from '../page.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function invitationRepository(db: Transaction): InvitationRepository {
  return {
    async insert(invitation) {
      await db.run(sql`
        insert into invitations (id, organization_id, secret_hmac, role, email, created_by,
          created_at, expires_at)
        values (${invitation.id}, ${invitation.organizationId}, ${invitation.secretHmac},
          ${invitation.role}, ${invitation.email}, ${invitation.createdBy},
          ${invitation.createdAt}, ${invitation.expiresAt})`);
    },
    async find(secretHmac, now) {
      const row = await db.get<InvitationRow>(sql`
        select ${columns} from invitations
        where secret_hmac = ${secretHmac} and expires_at > ${now}`);
      return row && toInvitation(row);
    },
    async list(of, now, page) {
      const rows = await db.all<InvitationRow>(sql`
        select ${columns} from invitations
        where organization_id = ${of} and expires_at > ${now} ${pageOf(page, 'id')}`);
      return rows.map(toInvitation);
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
      const row = await db.get<InvitationRow>(sql`
        delete from invitations
        where id = ${id} and organization_id = ${of} and expires_at > ${now}
        returning ${columns}`);
      return row && toInvitation(row);
    },
    async removeBy(of, person) {
      await db.run(sql`
        delete from invitations where organization_id = ${of} and created_by = ${person}`);
    },
  };
}

const columns = sql`id, organization_id, secret_hmac, role, email, created_by, created_at,
  expires_at`;

interface InvitationRow {
  id: string;
  organization_id: string;
  secret_hmac: string;
  role: Role;
  email: string | null;
  created_by: string;
  created_at: number;
  expires_at: number;
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: invitationId(row.id),
    organizationId: organizationId(row.organization_id),
    secretHmac: row.secret_hmac,
    role: row.role,
    email: row.email,
    createdBy: userId(row.created_by),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
