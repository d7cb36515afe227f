-- Times are integer milliseconds, flags 0/1, JSON is text: the same in both databases. Text sorts by byte.

create table organizations (
  id text collate "C" primary key,
  name text collate "C" not null,
  created_at bigint not null
);

create table users (
  id text collate "C" primary key,
  email text collate "C" not null unique,
  created_at bigint not null
);

create table memberships (
  organization_id text collate "C" not null references organizations (id),
  user_id text collate "C" not null references users (id),
  role text collate "C" not null check (role in ('owner', 'admin', 'member')),
  created_at bigint not null,
  primary key (organization_id, user_id)
);

create table tenants (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id),
  display_name text collate "C" not null,
  mode text collate "C" not null,
  status text collate "C" not null check (status in ('provisioning', 'active', 'failed', 'offboarding', 'offboarded')),
  attachment_state text collate "C" not null check (attachment_state in ('pending', 'ready', 'failed', 'detached')),
  status_reason text collate "C",
  step text collate "C",
  created_at bigint not null,
  updated_at bigint not null
);
create index tenants_by_organization on tenants (organization_id, id);
create index tenants_in_motion on tenants (id) where status in ('provisioning', 'offboarding');

create table clients (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id),
  client_id text collate "C" not null unique,
  name text collate "C" not null,
  description text collate "C",
  profile text collate "C" not null check (profile in ('observe', 'invoke', 'deploy', 'custom')),
  scopes text collate "C" not null,
  status text collate "C" not null check (status in ('active', 'disabled')),
  version bigint not null,
  created_by text collate "C" not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint
);
create index clients_by_organization on clients (organization_id, id) where deleted_at is null;

create table credentials (
  id text collate "C" primary key,
  client_record_id text collate "C" not null references clients (id),
  label text collate "C" not null,
  secret_hmac text collate "C" not null,
  secret_hint text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint,
  last_used_at bigint
);
create index credentials_by_client on credentials (client_record_id, id);

create table signing_keys (
  kid text collate "C" primary key,
  public_jwk text collate "C" not null,
  sealed_private_jwk text collate "C" not null,
  created_at bigint not null,
  signs_from bigint not null,
  retires_at bigint
);

create table idempotency_keys (
  scope text collate "C" not null,
  key text collate "C" not null,
  tenant_id text collate "C",
  fingerprint text collate "C" not null,
  resource_id text collate "C" not null,
  created_at bigint not null,
  primary key (scope, key)
);
create index idempotency_keys_by_tenant on idempotency_keys (tenant_id);

create table sessions (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null references tenants (id),
  agent_name text collate "C" not null,
  status text collate "C" not null
    check (status in ('idle', 'running', 'waiting', 'stopping', 'stopped', 'failed', 'terminated')),
  status_reason text collate "C",
  files_supported bigint not null,
  current_run_id text collate "C",
  queued_runs bigint not null check (queued_runs >= 0),
  run_count bigint not null,
  pending_interactions bigint not null,
  stop_mode text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  stopped_at bigint,
  ended_at bigint
);
create index sessions_by_tenant on sessions (tenant_id, id);
create index sessions_idle on sessions (updated_at) where status in ('idle', 'stopped');

-- What a harness needs to go on, and which context files the session has already announced.
create table session_states (
  session_id text collate "C" primary key references sessions (id),
  checkpoint text collate "C",
  context text collate "C"
);

create table runs (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null,
  session_id text collate "C" not null references sessions (id),
  agent_name text collate "C" not null,
  number bigint not null,
  status text collate "C" not null
    check (status in ('queued', 'running', 'waiting', 'cancelling', 'completed', 'failed', 'cancelled')),
  input text collate "C" not null,
  output_text text collate "C",
  error_code text collate "C",
  error_message text collate "C",
  pending_interactions bigint not null,
  last_seq bigint not null,
  last_event_at bigint not null,
  ready_at bigint,
  lease_owner text collate "C",
  lease_epoch bigint not null,
  lease_expires_at bigint,
  input_tokens bigint,
  output_tokens bigint,
  created_at bigint not null,
  started_at bigint,
  ended_at bigint,
  cancel_requested_at bigint
);
create unique index runs_by_session on runs (session_id, number);
create index runs_ready on runs (tenant_id, ready_at, id) where ready_at is not null;
create index runs_queued on runs (session_id, number) where status = 'queued';
create index runs_cancelling on runs (id) where status = 'cancelling' and lease_owner is null;
create index runs_leased on runs (tenant_id) where lease_owner is not null;
create index runs_leased_by on runs (lease_owner, lease_expires_at) where lease_owner is not null;

-- In stretches of time, made ahead and forgotten whole (store/event-stretches.ts): ids sort by age, so a range
-- of them is one. Whoever names the run finds its one stretch.
create table run_events (
  run_id text collate "C" not null,
  seq bigint not null,
  tenant_id text collate "C" not null,
  type text collate "C" not null,
  body text collate "C" not null,
  primary key (run_id, seq)
) partition by range (run_id);
create table run_events_elsewhere partition of run_events default;

create table interactions (
  interaction_key text collate "C" primary key,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null,
  session_id text collate "C" not null references sessions (id),
  run_id text collate "C" not null references runs (id),
  kind text collate "C" not null check (kind in ('permission', 'question')),
  status text collate "C" not null check (status in ('pending', 'answered', 'expired', 'cancelled')),
  request_id text collate "C" not null,
  tool_name text collate "C",
  tool_input text collate "C",
  question text collate "C",
  options text collate "C",
  multiple bigint not null,
  answer text collate "C",
  answered_by text collate "C",
  created_at bigint not null,
  answered_at bigint,
  applied_at bigint,
  expires_at bigint,
  unique (run_id, request_id)
);
create index interactions_by_session on interactions (session_id, status, interaction_key);
create index interactions_expiring on interactions (expires_at) where status = 'pending';

create table files (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null,
  session_id text collate "C" not null references sessions (id),
  name text collate "C" not null,
  content_type text collate "C" not null,
  size_bytes bigint,
  sha256 text collate "C",
  status text collate "C" not null check (status in ('pending', 'ready')),
  created_at bigint not null
);
create index files_by_session on files (session_id, id);

-- A second lock beside the tenant that every statement names: a connection that was told a tenant gets at the
-- rows of no other, one that was told '*' (the service's own work) at all, and one that was told nothing at none.
create function may_touch(tenant_id text) returns boolean language sql stable
  return tenant_id collate "C" = current_setting('convoke.tenant', true)
    or current_setting('convoke.tenant', true) = '*';

alter table sessions enable row level security, force row level security;
alter table runs enable row level security, force row level security;
alter table run_events enable row level security, force row level security;
alter table run_events_elsewhere enable row level security, force row level security;
alter table interactions enable row level security, force row level security;
alter table files enable row level security, force row level security;
alter table idempotency_keys enable row level security, force row level security;
alter table session_states enable row level security, force row level security;

create policy of_tenant on sessions using (may_touch(tenant_id));
create policy of_tenant on runs using (may_touch(tenant_id));
create policy of_tenant on run_events using (may_touch(tenant_id));
create policy of_tenant on run_events_elsewhere using (may_touch(tenant_id));
create policy of_tenant on interactions using (may_touch(tenant_id));
create policy of_tenant on files using (may_touch(tenant_id));
create policy of_tenant on idempotency_keys using (may_touch(tenant_id));
create policy of_tenant on session_states using (
  current_setting('convoke.tenant', true) = '*'
  or exists (select from sessions where id = session_id)
);
