-- What authors say about runs (D-575): one row for each run, key and author.
create table feedback (
  run_id text collate "C" not null references runs (id),
  key text collate "C" not null,
  -- The kind and the id: `person:usr_…`, `client:cli_…` or `end_user:…`.
  author text collate "C" not null,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null,
  session_id text collate "C" not null,
  score double precision,
  -- As JSON text.
  value text collate "C",
  comment text collate "C",
  created_at bigint not null,
  -- Later than `created_at` once the row has changed.
  updated_at bigint not null,
  primary key (run_id, key, author)
);

alter table feedback enable row level security, force row level security;
create policy of_tenant on feedback using (may_touch(tenant_id));
