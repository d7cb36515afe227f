create table schedules (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null,
  name text collate "C" not null,
  agent_name text collate "C" not null,
  cron text collate "C" not null,
  time_zone text collate "C" not null,
  input text collate "C" not null,
  session_mode text collate "C" not null check (session_mode in ('new', 'keep')),
  session_id text collate "C",
  owns_session bigint not null,
  overlap text collate "C" not null check (overlap in ('skip', 'queue')),
  missed text collate "C" not null check (missed in ('once', 'skip')),
  missed_within_ms bigint not null,
  status text collate "C" not null check (status in ('active', 'paused')),
  status_reason text collate "C",
  next_at bigint,
  last_slot_at bigint,
  last_run_id text collate "C",
  skipped_in_row bigint not null,
  version bigint not null,
  created_by text collate "C" not null,
  created_by_kind text collate "C" not null check (created_by_kind in ('client', 'user')),
  created_at bigint not null,
  updated_at bigint not null
);
create index schedules_by_tenant on schedules (tenant_id, id);
create index schedules_due on schedules (next_at) where status = 'active';

-- One row per slot that was dealt with: the key is what makes a slot start at most one run.
create table schedule_fires (
  schedule_id text collate "C" not null,
  slot_at bigint not null,
  tenant_id text collate "C" not null,
  fired_at bigint not null,
  outcome text collate "C" not null check (outcome in ('started', 'skipped', 'refused')),
  run_id text collate "C",
  session_id text collate "C",
  code text collate "C",
  primary key (schedule_id, slot_at)
);
create index schedule_fires_by_tenant on schedule_fires (tenant_id);
create index schedule_fires_by_time on schedule_fires (fired_at);

alter table schedules enable row level security, force row level security;
alter table schedule_fires enable row level security, force row level security;

create policy of_tenant on schedules using (may_touch(tenant_id));
create policy of_tenant on schedule_fires using (may_touch(tenant_id));
