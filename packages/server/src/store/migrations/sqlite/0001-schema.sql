-- Times are integer milliseconds, flags 0/1, JSON is text: the same in both databases. A check of more than two values in a
-- column that changes often is written with `or`: for `in (…)` SQLite makes a temporary table at each use.

create table organizations (
  id text primary key,
  name text not null,
  created_at integer not null
) strict, without rowid;

create table users (
  id text primary key,
  email text not null unique,
  created_at integer not null,
  -- Tokens that were issued before this moment are refused.
  not_before integer not null default 0
) strict, without rowid;

create table memberships (
  organization_id text not null references organizations (id),
  user_id text not null references users (id),
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at integer not null,
  -- Roles for the tenants of an organization (D-153); `role` is `member` for both.
  member_role text check (member_role in ('operator', 'viewer')),
  primary key (organization_id, user_id)
) strict, without rowid;
-- What a person may see is read at every request of a person, at each sign-in and for audit rows.
create index memberships_by_user on memberships (user_id, organization_id);

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
  deleted_at integer,
  -- Tokens that were issued before this moment are refused.
  not_before integer not null default 0,
  -- The tenants that the client is bound to, separated by spaces; null for a client of all tenants.
  tenant_ids text
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

create table sessions (
  id text primary key,
  organization_id text not null,
  tenant_id text not null references tenants (id),
  agent_name text not null,
  status text not null
    check (status = 'idle' or status = 'running' or status = 'waiting' or status = 'stopping'
      or status = 'stopped' or status = 'failed' or status = 'terminated'),
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
  ended_at integer,
  title text,
  created_by text,
  -- As JSON. The same labels are rows of `labels`, where lists find them.
  labels text,
  -- The ten minutes of the last change, numbered from 1970. The index has this column instead of the status and the time,
  -- so that most changes of a session change no index.
  changed_period integer not null default 0
) strict, without rowid;
create index sessions_by_tenant on sessions (tenant_id, id);
create index sessions_unused on sessions (changed_period) where ended_at is null;

-- What a harness needs to continue, and which context files the session has already announced.
create table session_states (
  session_id text primary key references sessions (id),
  checkpoint text,
  context text,
  -- The state of the session folder: the digest of its archive, `bare` while it needs none, or `local-…` where only the
  -- machine that executed the last leg has it. Null for sessions of a single machine.
  snapshot text,
  -- Set when the checkpoint is a recovery point: the run, and the last event that the checkpoint covers.
  checkpoint_run_id text,
  checkpoint_seq integer,
  -- The number of the checkpoint's format and the digest of the agent that made it (D-99).
  checkpoint_format integer,
  checkpoint_agent text
) strict, without rowid;
-- For the snapshots of ended sessions.
create index session_states_saved on session_states (session_id) where snapshot is not null;

create table runs (
  id text primary key,
  organization_id text not null,
  tenant_id text not null,
  session_id text not null references sessions (id),
  agent_name text not null,
  number integer not null,
  status text not null
    check (status = 'queued' or status = 'running' or status = 'waiting' or status = 'cancelling'
      or status = 'completed' or status = 'failed' or status = 'cancelled'),
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
  cancel_requested_at integer,
  -- Whether recovery ended the run: its terminal event says so (spec §6 rule 4), also when it is rebuilt from this row.
  recovered integer not null default 0,
  -- From when on a worker may continue the run: unlike `ready_at`, it may be in the future (D-93).
  continue_at integer,
  -- Workers lost since the last recovery point, and in total.
  losses integer not null default 0,
  losses_total integer not null default 0,
  -- Why the last leg was interrupted; null once the run was continued.
  interrupted_by text,
  -- The client that started the run; null if a person did.
  client_id text,
  -- In millionths of the currency of the deployment. Null while no report has a cost.
  cost_micros integer,
  -- The currency of the cost: an operator may change the one of the deployment (D-131).
  cost_currency text,
  -- 1 from the end of the run until the totals include it.
  is_usage_due integer not null default 0,
  -- When the last leg was interrupted, and how long all of them executed (D-87, D-95).
  interrupted_at integer,
  executed_ms integer not null default 0,
  -- When the current leg began to work; null between legs and while its live agent waits for a person.
  leg_started_at integer,
  -- The first words of the prompt, and who started the run.
  preview text,
  created_by text,
  -- As JSON. The same labels are rows of `labels`, where lists find them.
  labels text,
  -- Whether the run has used tokens that no report names: a message of its model was cut (D-97).
  usage_is_partial integer not null default 0,
  -- The client or person that asked to cancel the run (D-155).
  cancelled_by text,
  -- The ceiling of the run: that of its agent when it was started, or a lower one that the request named.
  max_tokens integer,
  max_cost_micros integer,
  -- Session folders on several machines (D-91): which machine executed the last leg, up to which lease its changes of the
  -- folder are archived, until when the run waits for that machine, and whether it continues without its changes.
  last_machine text,
  saved_epoch integer not null default 0,
  hold_until integer,
  is_behind integer not null default 0
) strict, without rowid;
create unique index runs_by_session on runs (session_id, number);
create index runs_ready on runs (tenant_id, ready_at, id) where ready_at is not null;
create index runs_queued on runs (session_id, number) where status = 'queued';
create index runs_cancelling on runs (id) where status = 'cancelling' and lease_owner is null;
create index runs_continuing on runs (tenant_id, continue_at, id) where continue_at is not null;
create index runs_usage_due on runs (id) where is_usage_due = 1;
create index runs_by_tenant on runs (tenant_id, id);
create index runs_open on runs (tenant_id, status, id) where ended_at is null;
create index runs_failed on runs (tenant_id, id) where status = 'failed';
-- The count of a tenant's executing runs reads this index only. Without `lease_owner` in it, SQLite prefers
-- `runs_by_tenant` and reads every run that the tenant ever had. The end of the lease is in no index, so that a renewed
-- lease changes none.
create index runs_executing on runs (tenant_id, lease_owner) where lease_owner is not null;

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
  -- What a question of the service itself is about, as JSON.
  about text,
  unique (run_id, request_id)
) strict, without rowid;
create index interactions_by_session on interactions (session_id, status, interaction_key);
create index interactions_expiring on interactions (expires_at) where status = 'pending';
create index interactions_by_tenant on interactions (tenant_id, interaction_key);
create index interactions_open on interactions (tenant_id, interaction_key) where status = 'pending';

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
-- The storage of a tenant is the sum of its files.
create index files_by_tenant on files (tenant_id, size_bytes);

-- Append-only, hash-chained per organization; `organization_id` is `deployment` for what concerns none.
create table audit_rows (
  organization_id text not null,
  seq integer not null,
  at integer not null,
  actor_kind text not null check (actor_kind in ('user', 'client', 'operator', 'system', 'anonymous')),
  actor_id text not null,
  request_id text,
  address text,
  action text not null,
  object text not null,
  outcome text not null check (outcome in ('done', 'denied')),
  details text not null,
  previous_hash text not null,
  hash text not null,
  primary key (organization_id, seq)
) strict, without rowid;
create index audit_rows_by_time on audit_rows (at);
create trigger audit_rows_stay before update on audit_rows
begin
  select raise(abort, 'audit rows are never changed');
end;
create trigger audit_rows_remain before delete on audit_rows
begin
  select raise(abort, 'audit rows are never removed');
end;

-- The end of each chain. The writer of a row locks this one, so that a chain never forks.
create table audit_heads (
  organization_id text primary key,
  seq integer not null,
  hash text not null,
  -- HMAC of the head under a key that is not in the database, so that a head that was changed there is noticed.
  -- Null until `convoke audit seal` for a chain without one.
  seal text
) strict, without rowid;

-- Withdrawals of access whose cleanup still runs. The rows of clients and credentials already refuse access.
create table withdrawals (
  id text primary key,
  organization_id text not null references organizations (id),
  client_record_id text not null references clients (id),
  credential_id text references credentials (id),
  kind text not null
    check (kind in ('change_permissions', 'disable_client', 'delete_client', 'revoke_credential')),
  step text not null,
  attempts integer not null,
  next_attempt_at integer not null,
  requested_at integer not null
) strict, without rowid;
create index withdrawals_due on withdrawals (next_attempt_at);
create index withdrawals_by_client on withdrawals (client_record_id);

create table user_passwords (
  user_id text primary key references users (id),
  hash text not null,
  is_one_time integer not null,
  set_at integer not null,
  expires_at integer
) strict, without rowid;

-- Records of the built-in identity provider: sessions, codes, refresh tokens. A secret is sealed and found by a keyed
-- digest, so that a copy of the database signs no one in.
create table identity_records (
  model text not null,
  digest text not null,
  user_id text,
  grant_digest text,
  uid_digest text,
  user_code_digest text,
  payload text not null,
  consumed_at integer,
  expires_at integer not null,
  primary key (model, digest)
) strict, without rowid;
create index identity_records_expired on identity_records (expires_at);
create index identity_records_by_user on identity_records (user_id);
create index identity_records_by_grant on identity_records (grant_digest);
create index identity_records_by_uid on identity_records (uid_digest);
create index identity_records_by_user_code on identity_records (user_code_digest);

-- Which user a person of another issuer is.
create table user_identities (
  issuer text not null,
  subject text not null,
  user_id text not null references users (id),
  created_at integer not null,
  primary key (issuer, subject)
) strict, without rowid;

-- Token buckets that all servers share, each as the time at which it is full again, in microseconds.
create table rate_limits (
  key text primary key,
  full_at integer not null
) strict, without rowid;
create index rate_limits_by_time on rate_limits (full_at);

-- Blobs to be removed: bytes of deleted files, replaced snapshots, and blobs that no row names yet because they are still
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

-- Tool calls with an effect. A row is committed before its call starts, so that after a loss it is known which calls may
-- have been carried out.
create table tool_calls (
  run_id text not null references runs (id),
  ref text not null,
  tenant_id text not null,
  epoch integer not null,
  tool_name text not null,
  input text not null,
  touches text not null check (touches = 'workspace' or touches = 'outside' or touches = 'both'),
  status text not null check (status = 'begun' or status = 'ended' or status = 'left' or status = 'again'),
  ok integer,
  output text,
  begun_at integer not null,
  ended_at integer,
  -- Whether the tool's server says that the call may be carried out twice without harm, and the agent trusts it (D-81).
  is_repeatable integer not null default 0,
  -- Whether the call's changes of the session folder are in an archive that was made during its leg (D-92).
  is_saved integer not null default 0,
  primary key (run_id, ref)
) strict, without rowid;

-- Notices of the feed that have no number yet, each written in the transaction of its change (D-110). The position orders
-- the notices of one session: its changes are serialized by a row lock, so a later one takes a later position.
create table outbox (
  position integer primary key,
  tenant_id text not null,
  type text not null,
  body text not null
) strict;
create index outbox_by_tenant on outbox (tenant_id, position);

-- The numbers in use: `oldest_seq` is the first notice that is kept, or the next one if none is.
create table feeds (
  tenant_id text primary key,
  last_seq integer not null,
  oldest_seq integer not null
) strict, without rowid;

create table notices (
  tenant_id text not null,
  seq integer not null,
  type text not null,
  body text not null,
  -- When the notice got its number.
  created_at integer not null,
  primary key (tenant_id, seq)
) strict, without rowid;

-- The ledger of tokens and costs: one row for each report of a leg, with what was used since its last report (D-130).
create table usage_entries (
  run_id text not null references runs (id),
  epoch integer not null,
  seq integer not null,
  tenant_id text not null,
  organization_id text not null,
  session_id text not null,
  client_id text,
  agent_name text not null,
  model text not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cached_input_tokens integer not null,
  reasoning_tokens integer not null,
  cost_micros integer,
  cost_source text check (cost_source in ('priced', 'reported')),
  at integer not null,
  cost_currency text,
  -- 1 once the totals include the entry.
  is_counted integer not null default 0,
  primary key (run_id, epoch, seq)
) strict, without rowid;
create index usage_entries_uncounted on usage_entries (run_id, epoch, seq) where is_counted = 0;

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
  updated_at integer not null,
  -- As JSON; the runs of the schedule get them (D-256). Null for none.
  labels text
) strict, without rowid;
create index schedules_by_tenant on schedules (tenant_id, id);
create index schedules_due on schedules (next_at) where status = 'active';

-- One row for each slot in the past. Its key makes a slot start at most one run.
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

-- Totals of usage: one row for each hour and day (`grain`) of an agent, model and client, and for each day of a session.
-- Runs are counted where they ended, with an empty model (D-130).
create table usage_totals (
  tenant_id text not null,
  grain text not null check (grain in ('hour', 'day', 'session')),
  starts_at integer not null,
  agent_name text not null,
  model text not null,
  client_id text not null,
  session_id text not null,
  organization_id text not null,
  completed integer not null,
  failed integer not null,
  cancelled integer not null,
  run_ms integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cached_input_tokens integer not null,
  reasoning_tokens integer not null,
  cost_micros integer,
  primary key (tenant_id, grain, starts_at, agent_name, model, client_id, session_id)
) strict, without rowid;
create index usage_totals_of_organization on usage_totals (organization_id, grain, starts_at);
create index usage_totals_old on usage_totals (grain, starts_at);

-- Labels of runs and sessions (`owner_id`), for lists that filter by them (D-253).
create table labels (
  owner_id text not null,
  key text not null,
  tenant_id text not null,
  value text not null,
  primary key (owner_id, key)
) strict, without rowid;
create index labels_find on labels (tenant_id, key, value, owner_id);

-- How far the hash chain of each organization was checked (domain/audit.ts, ChainCheck).
create table audit_checks (
  organization_id text primary key,
  walked_seq integer not null,
  walked_hash text not null,
  walk_started_at integer not null,
  verified_to_seq integer not null,
  verified_at integer not null,
  problem_seq integer,
  problem text
) strict, without rowid;

-- Budgets of tenants, clients, agents and sessions (D-132 to D-134).
create table budgets (
  id text primary key,
  organization_id text not null,
  scope_kind text not null check (scope_kind in ('tenant', 'client', 'agent', 'session')),
  scope_id text not null,
  period text not null check (period in ('day', 'month', 'total')),
  max_tokens integer,
  max_cost_micros integer,
  version integer not null,
  created_by text not null,
  created_at integer not null,
  updated_at integer not null
) strict, without rowid;
create unique index one_budget on budgets (organization_id, scope_kind, scope_id, period);

-- How much of a budget was used in a period, in several rows, so that reports of many runs do not wait for each other.
create table budget_periods (
  budget_id text not null references budgets (id),
  starts_at integer not null,
  shard integer not null,
  tokens integer not null,
  cost_micros integer not null,
  primary key (budget_id, starts_at, shard)
) strict, without rowid;

-- Shares of a budget that were announced.
create table budget_notices (
  budget_id text not null references budgets (id),
  starts_at integer not null,
  percent integer not null,
  primary key (budget_id, starts_at, percent)
) strict, without rowid;

create table webhooks (
  id text primary key,
  organization_id text not null,
  tenant_id text not null,
  url text not null,
  description text,
  types text not null,
  agent_names text,
  status text not null check (status in ('active', 'disabled')),
  status_reason text,
  sealed_secret text not null,
  secret_hint text not null,
  previous_secret text,
  previous_until integer,
  version integer not null,
  last_success_at integer,
  failing_since integer,
  failures_in_row integer not null,
  not_before integer not null,
  created_by text not null,
  created_by_kind text not null check (created_by_kind in ('client', 'user')),
  created_at integer not null,
  updated_at integer not null,
  -- As JSON; the webhook gets only notices that have all of them (D-256). Null for none.
  labels text
) strict, without rowid;
create index webhooks_by_tenant on webhooks (tenant_id, id);

-- One notice for one webhook. The body of a notice is in `notices`; only a test has one of its own.
create table webhook_deliveries (
  id text primary key,
  webhook_id text not null,
  tenant_id text not null,
  notice_seq integer,
  type text not null,
  test_body text,
  status text not null
    check (status = 'pending' or status = 'sending' or status = 'delivered' or status = 'failed' or status = 'blocked'),
  tries integer not null,
  next_try_at integer not null,
  lease_owner text,
  lease_expires_at integer,
  response_status integer,
  response_excerpt text,
  error text,
  created_at integer not null,
  ended_at integer
) strict, without rowid;
create unique index one_delivery on webhook_deliveries (webhook_id, notice_seq) where notice_seq is not null;
create index deliveries_by_webhook on webhook_deliveries (webhook_id, id);
create index deliveries_due on webhook_deliveries (webhook_id, next_try_at, id) where status = 'pending';
create index deliveries_sending on webhook_deliveries (lease_expires_at) where status = 'sending';
create index deliveries_by_tenant on webhook_deliveries (tenant_id);
create index deliveries_by_time on webhook_deliveries (created_at);

-- Usage by label: one row for each day of a label of runs that used something (D-255).
create table usage_label_totals (
  tenant_id text not null,
  label_key text not null,
  starts_at integer not null,
  label_value text not null,
  organization_id text not null,
  completed integer not null,
  failed integer not null,
  cancelled integer not null,
  run_ms integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cached_input_tokens integer not null,
  reasoning_tokens integer not null,
  cost_micros integer,
  primary key (tenant_id, label_key, starts_at, label_value)
) strict, without rowid;
create index usage_label_totals_of_organization
  on usage_label_totals (organization_id, label_key, starts_at, label_value);
create index usage_label_totals_old on usage_label_totals (starts_at);
