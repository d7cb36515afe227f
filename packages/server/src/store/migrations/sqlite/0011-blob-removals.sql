-- Blobs to be removed: bytes of deleted files, replaced snapshots, and blobs that no row names yet because they are just
-- being stored. `owner_id` is a file or a session; an empty `sha256` means all blobs of the owner.
create table blob_removals (
  tenant_id text not null,
  owner_id text not null,
  sha256 text not null,
  due_at integer not null,
  claimed integer not null default 0,
  primary key (tenant_id, owner_id, sha256)
) strict, without rowid;
create index blob_removals_due on blob_removals (due_at);

-- For the snapshots of ended sessions.
create index if not exists session_states_saved on session_states (session_id) where snapshot is not null;
