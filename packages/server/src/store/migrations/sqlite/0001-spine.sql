-- Times are integer milliseconds, flags 0/1, JSON is text: the same in both databases.

create table organizations (
  id text primary key,
  name text not null,
  created_at integer not null
) strict, without rowid;

create table users (
  id text primary key,
  email text not null unique,
  created_at integer not null
) strict, without rowid;

create table memberships (
  organization_id text not null references organizations (id),
  user_id text not null references users (id),
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at integer not null,
  primary key (organization_id, user_id)
) strict, without rowid;

create table tenants (
  id text primary key,
  organization_id text not null references organizations (id),
  display_name text not null,
  mode text not null,
  status text not null check (status in ('provisioning', 'active', 'failed', 'offboarding', 'offboarded')),
  attachment_state text not null check (attachment_state in ('pending', 'ready', 'failed', 'detached')),
  status_reason text,
  step text,
  created_at integer not null,
  updated_at integer not null
) strict, without rowid;
create index tenants_by_organization on tenants (organization_id, id);
create index tenants_in_motion on tenants (id) where status in ('provisioning', 'offboarding');

create table clients (
  id text primary key,
  organization_id text not null references organizations (id),
  client_id text not null unique,
  name text not null,
  description text,
  profile text not null check (profile in ('observe', 'invoke', 'deploy', 'custom')),
  scopes text not null,
  status text not null check (status in ('active', 'disabled')),
  version integer not null,
  created_by text not null,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer
) strict, without rowid;
create index clients_by_organization on clients (organization_id, id) where deleted_at is null;

create table credentials (
  id text primary key,
  client_record_id text not null references clients (id),
  label text not null,
  secret_hmac text not null,
  secret_hint text not null,
  created_at integer not null,
  expires_at integer not null,
  revoked_at integer,
  last_used_at integer
) strict, without rowid;
create index credentials_by_client on credentials (client_record_id, id);

create table signing_keys (
  kid text primary key,
  public_jwk text not null,
  sealed_private_jwk text not null,
  created_at integer not null,
  signs_from integer not null,
  retires_at integer
) strict, without rowid;

create table idempotency_keys (
  scope text not null,
  key text not null,
  tenant_id text,
  fingerprint text not null,
  resource_id text not null,
  created_at integer not null,
  primary key (scope, key)
) strict, without rowid;
create index idempotency_keys_by_tenant on idempotency_keys (tenant_id);

create table sessions (
  id text primary key,
  organization_id text not null,
  tenant_id text not null references tenants (id),
  agent_name text not null,
  status text not null
    check (status in ('idle', 'running', 'waiting', 'stopping', 'stopped', 'failed', 'terminated')),
  status_reason text,
  files_supported integer not null,
  current_run_id text,
  queued_runs integer not null check (queued_runs >= 0),
  run_count integer not null,
  pending_interactions integer not null,
  stop_mode text,
  created_at integer not null,
  updated_at integer not null,
  stopped_at integer,
  ended_at integer
) strict, without rowid;
create index sessions_by_tenant on sessions (tenant_id, id);
create index sessions_idle on sessions (updated_at) where status in ('idle', 'stopped');

-- What a harness needs to go on, and which context files the session has already announced.
create table session_states (
  session_id text primary key references sessions (id),
  checkpoint text,
  context text
) strict, without rowid;

create table runs (
  id text primary key,
  organization_id text not null,
  tenant_id text not null,
  session_id text not null references sessions (id),
  agent_name text not null,
  number integer not null,
  status text not null
    check (status in ('queued', 'running', 'waiting', 'cancelling', 'completed', 'failed', 'cancelled')),
  input text not null,
  output_text text,
  error_code text,
  error_message text,
  pending_interactions integer not null,
  last_seq integer not null,
  last_event_at integer not null,
  ready_at integer,
  lease_owner text,
  lease_epoch integer not null,
  lease_expires_at integer,
  input_tokens integer,
  output_tokens integer,
  created_at integer not null,
  started_at integer,
  ended_at integer,
  cancel_requested_at integer
) strict, without rowid;
create unique index runs_by_session on runs (session_id, number);
create index runs_ready on runs (tenant_id, ready_at, id) where ready_at is not null;
create index runs_queued on runs (session_id, number) where status = 'queued';
create index runs_cancelling on runs (id) where status = 'cancelling' and lease_owner is null;
create index runs_leased on runs (tenant_id) where lease_owner is not null;
create index runs_leased_by on runs (lease_owner, lease_expires_at) where lease_owner is not null;

create table run_events (
  run_id text not null,
  seq integer not null,
  tenant_id text not null,
  type text not null,
  body text not null,
  primary key (run_id, seq)
) strict, without rowid;

create table interactions (
  interaction_key text primary key,
  organization_id text not null,
  tenant_id text not null,
  session_id text not null references sessions (id),
  run_id text not null references runs (id),
  kind text not null check (kind in ('permission', 'question')),
  status text not null check (status in ('pending', 'answered', 'expired', 'cancelled')),
  request_id text not null,
  tool_name text,
  tool_input text,
  question text,
  options text,
  multiple integer not null,
  answer text,
  answered_by text,
  created_at integer not null,
  answered_at integer,
  applied_at integer,
  expires_at integer,
  unique (run_id, request_id)
) strict, without rowid;
create index interactions_by_session on interactions (session_id, status, interaction_key);
create index interactions_expiring on interactions (expires_at) where status = 'pending';

create table files (
  id text primary key,
  organization_id text not null,
  tenant_id text not null,
  session_id text not null references sessions (id),
  name text not null,
  content_type text not null,
  size_bytes integer,
  sha256 text,
  status text not null check (status in ('pending', 'ready')),
  created_at integer not null
) strict, without rowid;
create index files_by_session on files (session_id, id);
