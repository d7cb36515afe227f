-- Blobs to be removed: bytes of deleted files, replaced snapshots, and blobs that no row names yet because they are just
-- being stored. `owner_id` is a file or a session; an empty `sha256` means all blobs of the owner.
create table blob_removals (
  tenant_id text collate "C" not null,
  owner_id text collate "C" not null,
  sha256 text collate "C" not null,
  due_at bigint not null,
  claimed bigint not null default 0,
  primary key (tenant_id, owner_id, sha256)
);
create index blob_removals_due on blob_removals (due_at);
alter table blob_removals enable row level security, force row level security;
create policy of_tenant on blob_removals using (may_touch(tenant_id));

-- For the snapshots of ended sessions.
create index if not exists session_states_saved on session_states (session_id) where snapshot is not null;
