create table schedules (
  id text primary key,
  organization_id text not null,
  tenant_id text not null,
  name text not null,
  agent_name text not null,
  cron text not null,
  time_zone text not null,
  input text not null,
  session_mode text not null check (session_mode in ('new', 'keep')),
  session_id text,
  owns_session integer not null,
  overlap text not null check (overlap in ('skip', 'queue')),
  missed text not null check (missed in ('once', 'skip')),
  missed_within_ms integer not null,
  status text not null check (status in ('active', 'paused')),
  status_reason text,
  next_at integer,
  last_slot_at integer,
  last_run_id text,
  skipped_in_row integer not null,
  version integer not null,
  created_by text not null,
  created_by_kind text not null check (created_by_kind in ('client', 'user')),
  created_at integer not null,
  updated_at integer not null
) strict, without rowid;
create index schedules_by_tenant on schedules (tenant_id, id);
create index schedules_due on schedules (next_at) where status = 'active';

-- One row per slot that was dealt with: the key is what makes a slot start at most one run.
create table schedule_fires (
  schedule_id text not null,
  slot_at integer not null,
  tenant_id text not null,
  fired_at integer not null,
  outcome text not null check (outcome in ('started', 'skipped', 'refused')),
  run_id text,
  session_id text,
  code text,
  primary key (schedule_id, slot_at)
) strict, without rowid;
create index schedule_fires_by_tenant on schedule_fires (tenant_id);
create index schedule_fires_by_time on schedule_fires (fired_at);
