import {
  type AttachmentState,
  type TenantStatus,
  organizationId,
  tenantId,
  userId,
} from '@convoke/contract';
import type { ReachedPerson } from '../../../domain/access.ts';
import type {
  Identity,
  Membership,
  Organization,
  OrganizationRepository,
  Role,
  User,
} from '../../../ports/repositories/identity/organizations.ts';
import { pageOf } from '../../page.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

export function organizationRepository(db: Transaction): OrganizationRepository {
  async function findIdentity({ issuer, subject }: Identity) {
    const row = await db.get<{ id: string; name: string | null }>(sql`
      select u.id, u.name from user_identities i join users u on u.id = i.user_id
      where i.issuer = ${issuer} and i.subject = ${subject}`);
    return row && { id: userId(row.id), name: row.name };
  }

  return {
    async insert({ id, name, createdAt }) {
      await db.run(
        sql`insert into organizations (id, name, created_at) values (${id}, ${name}, ${createdAt})`,
      );
    },
    async ensureUser(user) {
      await db.run(sql`
        insert into users (id, email, name, created_at)
        values (${user.id}, ${user.email}, ${user.name ?? null}, ${user.createdAt})
        on conflict (email) do nothing`);
      const row = await db.get<UserRow>(
        sql`select id, email, name, created_at from users where email = ${user.email}`,
      );
      if (row === undefined) throw new Error('a user disappeared while being added');
      return toUser(row);
    },
    async saveRole({ organizationId: organization, userId: user, role }) {
      await db.run(sql`
        update memberships set role = ${storedRole(role)}, member_role = ${memberRole(role)}
        where organization_id = ${organization} and user_id = ${user}`);
    },
    async insertMembership(membership) {
      const { organizationId: organization, userId: user, role, createdAt } = membership;
      const isInvited = membership.isInvited === true ? 1 : 0;
      await db.run(
        sql`insert into memberships (organization_id, user_id, role, member_role, created_at, is_invited)
            values (${organization}, ${user}, ${storedRole(role)}, ${memberRole(role)}, ${createdAt},
              ${isInvited})`,
      );
    },
    async deleteMembership({ organizationId: organization, userId: user }) {
      await db.run(sql`
        delete from memberships where organization_id = ${organization} and user_id = ${user}`);
    },
    async countMembers(id) {
      const row = await db.get<{ members: number }>(
        sql`select count(*) as members from memberships where organization_id = ${id}`,
      );
      return row?.members ?? 0;
    },
    async members(id, page) {
      const rows = await db.all<Omit<MembershipRow, 'is_invited'> & PersonColumns>(sql`
        select m.organization_id, m.user_id, m.role, m.member_role, m.created_at, u.email, u.name
        from memberships m join users u on u.id = m.user_id
        where m.organization_id = ${id} ${pageOf(page, 'user_id')}`);
      return rows.map((row) => ({
        user: { id: userId(row.user_id), email: row.email, name: row.name },
        role: toRole(row),
        createdAt: row.created_at,
      }));
    },
    async names(ids) {
      if (ids.length === 0) return new Map();
      const wanted = sql.join(ids.map((id) => sql`${id}`));
      const rows = await db.all<{ id: string; name: string }>(
        sql`select id, name from organizations where id in (${wanted})`,
      );
      return new Map(rows.map(({ id, name }) => [organizationId(id), name]));
    },
    async people(ids) {
      if (ids.length === 0) return [];
      const wanted = sql.join(ids.map((id) => sql`${id}`));
      const rows = await db.all<PersonColumns & { id: string }>(
        sql`select id, email, name from users where id in (${wanted})`,
      );
      return rows.map(({ id, email, name }) => ({ id: userId(id), email, name }));
    },
    async saveName(id, name) {
      await db.run(sql`update users set name = ${name} where id = ${id}`);
    },
    async countOwners(id) {
      const row = await db.get<{ owners: number }>(sql`
        select count(*) as owners from memberships
        where organization_id = ${id} and role = 'owner'`);
      return row?.owners ?? 0;
    },
    async countRoles(id) {
      const rows = await db.all<RoleColumns & { people: number }>(sql`
        select role, member_role, count(*) as people from memberships
        where organization_id = ${id} group by role, member_role`);
      const counts = new Map<Role, number>();
      for (const row of rows) {
        const role = toRole(row);
        counts.set(role, (counts.get(role) ?? 0) + row.people);
      }
      return counts;
    },
    async find(id) {
      const row = await db.get<OrganizationRow>(
        sql`select id, name, created_at from organizations where id = ${id}`,
      );
      return row && toOrganization(row);
    },
    async lock(id) {
      const row = await db.get<OrganizationRow>(
        sql`select id, name, created_at from organizations where id = ${id} ${sql.forUpdate}`,
      );
      return row && toOrganization(row);
    },
    async findUser(id) {
      const row = await db.get<UserRow>(
        sql`select id, email, name, created_at from users where id = ${id}`,
      );
      return row && toUser(row);
    },
    async findUserByEmail(email) {
      const row = await db.get<UserRow>(
        sql`select id, email, name, created_at from users where email = ${email}`,
      );
      return row && toUser(row);
    },
    async notBefore(id) {
      const row = await db.get<{ not_before: number }>(
        sql`select not_before from users where id = ${id}`,
      );
      return row?.not_before ?? 0;
    },
    async endTokens(id, at) {
      await db.run(
        sql`update users set not_before = ${at} where id = ${id} and not_before < ${at}`,
      );
    },
    findIdentity,
    async claimIdentity(identity, user, now) {
      await db.run(sql`
        insert into user_identities (issuer, subject, user_id, created_at)
        values (${identity.issuer}, ${identity.subject}, ${user}, ${now})
        on conflict (issuer, subject) do nothing`);
      const holder = await findIdentity(identity);
      if (holder === undefined) throw new Error('an identity disappeared while it was claimed');
      return holder.id;
    },
    async membership(id, user) {
      const row = await db.get<MembershipRow>(
        sql`select ${membershipColumns} from memberships
            where organization_id = ${id} and user_id = ${user}`,
      );
      return row && toMembership(row);
    },
    async membershipsOf(user) {
      const rows = await db.all<MembershipRow>(
        sql`select ${membershipColumns} from memberships
            where user_id = ${user} order by organization_id limit ${membershipsMax}`,
      );
      return rows.map(toMembership);
    },
    async reach(user, { organizationId: organization, tenantId: tenant }) {
      const row = await db.get<PersonReachRow>(sql`
        select u.not_before, m.role, m.member_role, m.is_invited,
          t.id as tenant_id, t.status as tenant_status, t.attachment_state
        from users u
        left join memberships m on m.user_id = u.id and m.organization_id = ${organization}
        left join tenants t on t.id = ${tenant} and t.organization_id = ${organization}
        where u.id = ${user}`);
      return row && toReachedPerson(row);
    },
    async first() {
      const row = await db.get<OrganizationRow>(
        sql`select id, name, created_at from organizations order by id limit 1`,
      );
      return row && toOrganization(row);
    },
    async only() {
      const [row, another] = await db.all<OrganizationRow>(
        sql`select id, name, created_at from organizations order by id limit 2`,
      );
      return row && another === undefined ? toOrganization(row) : undefined;
    },
  };
}

const membershipColumns = sql`organization_id, user_id, role, member_role, created_at, is_invited`;

/** Organizations of one person: a bound that no person reaches. */
const membershipsMax = 1_000;

interface OrganizationRow {
  id: string;
  name: string;
  created_at: number;
}

interface PersonColumns {
  email: string;
  name: string | null;
}

interface UserRow extends PersonColumns {
  id: string;
  created_at: number;
}

interface MembershipRow extends RoleColumns {
  organization_id: string;
  user_id: string;
  created_at: number;
  is_invited: number;
}

/** A server of the previous release knows three roles only: to it an operator or a viewer is a member. */
interface RoleColumns {
  role: StoredRole;
  member_role: MemberRole | null;
}
type StoredRole = 'owner' | 'admin' | 'member';
type MemberRole = 'operator' | 'viewer';

function storedRole(role: Role): StoredRole {
  return role === 'operator' || role === 'viewer' ? 'member' : role;
}

function memberRole(role: Role): MemberRole | null {
  return role === 'operator' || role === 'viewer' ? role : null;
}

/** An older server that changed the role left `member_role` as it was, so it counts for members only. */
function toRole({ role, member_role: finer }: RoleColumns): Role {
  return role === 'member' ? (finer ?? role) : role;
}

type PersonReachRow = { not_before: number; is_invited: number | null } & (
  | RoleColumns
  | { role: null }
) &
  (
    | { tenant_id: null }
    | { tenant_id: string; tenant_status: TenantStatus; attachment_state: AttachmentState }
  );

function toReachedPerson(row: PersonReachRow): ReachedPerson {
  const role = row.role === null ? undefined : toRole(row);
  const person = { role, isInvited: row.is_invited === 1, notBefore: row.not_before };
  if (row.tenant_id === null) return person;
  const { tenant_id: id, tenant_status: status, attachment_state: attachmentState } = row;
  return { ...person, tenant: { id: tenantId(id), status, attachmentState } };
}

function toOrganization(row: OrganizationRow): Organization {
  return { id: organizationId(row.id), name: row.name, createdAt: row.created_at };
}

function toUser(row: UserRow): User {
  return { id: userId(row.id), email: row.email, name: row.name, createdAt: row.created_at };
}

function toMembership(row: MembershipRow): Membership {
  return {
    organizationId: organizationId(row.organization_id),
    userId: userId(row.user_id),
    role: toRole(row),
    createdAt: row.created_at,
    isInvited: row.is_invited === 1,
  };
}
