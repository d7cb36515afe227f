-- What authors say about runs (D-575): one row for each run, key and author.
create table feedback (
  run_id text not null references runs (id),
  key text not null,
  -- The kind and the id: `person:usr_…`, `client:cli_…` or `end_user:…`.
  author text not null,
  organization_id text not null,
  tenant_id text not null,
  session_id text not null,
  score real,
  -- As JSON text.
  value text,
  comment text,
  created_at integer not null,
  -- Later than `created_at` once the row has changed.
  updated_at integer not null,
  primary key (run_id, key, author)
) strict, without rowid;
