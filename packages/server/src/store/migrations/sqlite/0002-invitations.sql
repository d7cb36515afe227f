-- Open invitations (D-331). One that is accepted or revoked is deleted: the audit log keeps what happened.
create table invitations (
  id text primary key,
  organization_id text not null references organizations (id),
  -- Keyed digest of the secret in the link; the secret itself is not stored.
  secret_hmac text not null unique,
  role text not null check (role in ('owner', 'admin', 'operator', 'viewer', 'member')),
  -- Null: anyone who has the link can accept.
  email text,
  created_by text not null references users (id),
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index invitations_by_organization on invitations (organization_id, id);

-- 1 for a membership that an invitation gave: it also counts where another issuer decides roles (D-332).
alter table memberships add column is_invited integer not null default 0;
