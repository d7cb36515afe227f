-- What runs wait for beside people, and messages that nothing has asked for (D-850).
create table waits (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null,
  session_id text collate "C" not null,
  run_id text collate "C" not null references runs (id),
  -- The agent's name for it; null for a message that is kept.
  ref text collate "C",
  kind text collate "C" not null,
  name text collate "C" not null,
  status text collate "C" not null
    check (status = 'open' or status = 'settled' or status = 'cancelled'),
  due_at bigint,
  -- Its place among the waits and answers of its run, in the order in which they came.
  number bigint,
  -- As JSON: how it ended, with the data of a message.
  result text collate "C",
  created_at bigint not null,
  settled_at bigint,
  applied_at bigint,
  unique (run_id, ref)
);
create index waits_due on waits (due_at) where status = 'open' and due_at is not null;
create index waits_kept on waits (run_id, name, id) where ref is null;

alter table waits enable row level security, force row level security;
create policy of_tenant on waits using (may_touch(tenant_id));

-- How many of its waits are open.
alter table runs add column open_waits bigint not null default 0;
