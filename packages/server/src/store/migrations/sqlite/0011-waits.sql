-- What runs wait for beside people, and messages that nothing has asked for (D-850).
create table waits (
  id text primary key,
  organization_id text not null,
  tenant_id text not null,
  session_id text not null,
  run_id text not null references runs (id),
  -- The agent's name for it; null for a message that is kept.
  ref text,
  kind text not null,
  name text not null,
  status text not null check (status = 'open' or status = 'settled' or status = 'cancelled'),
  due_at integer,
  -- Its place among the waits and answers of its run, in the order in which they came.
  number integer,
  -- As JSON: how it ended, with the data of a message.
  result text,
  created_at integer not null,
  settled_at integer,
  applied_at integer,
  unique (run_id, ref)
) strict;
create index waits_due on waits (due_at) where status = 'open' and due_at is not null;
create index waits_kept on waits (run_id, name, id) where ref is null;

-- How many of its waits are open.
alter table runs add column open_waits integer not null default 0;
