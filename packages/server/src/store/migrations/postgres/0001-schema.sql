-- Times are integer milliseconds, flags 0/1, JSON is text: the same in both databases. Text sorts by byte.

create table organizations (
  id text collate "C" primary key,
  name text collate "C" not null,
  created_at bigint not null
);

create table users (
  id text collate "C" primary key,
  email text collate "C" not null unique,
  created_at bigint not null,
  -- Tokens that were issued before this moment are refused.
  not_before bigint not null default 0
);

create table memberships (
  organization_id text collate "C" not null references organizations (id),
  user_id text collate "C" not null references users (id),
  role text collate "C" not null check (role in ('owner', 'admin', 'member')),
  created_at bigint not null,
  -- Roles for the tenants of an organization (D-153); `role` is `member` for both.
  member_role text collate "C" check (member_role in ('operator', 'viewer')),
  primary key (organization_id, user_id)
);
-- What a person may see is read at every request of a person, at each sign-in and for audit rows.
create index memberships_by_user on memberships (user_id, organization_id);

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
  deleted_at bigint,
  -- Tokens that were issued before this moment are refused.
  not_before bigint not null default 0,
  -- The tenants that the client is bound to, separated by spaces; null for a client of all tenants.
  tenant_ids text collate "C"
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
  ended_at bigint,
  title text collate "C",
  created_by text collate "C",
  -- As JSON. The same labels are rows of `labels`, where lists find them.
  labels text collate "C",
  -- The ten minutes of the last change, numbered from 1970. The index has this column instead of the status and the time,
  -- so that most changes of a session change no index.
  changed_period bigint not null default 0
);
create index sessions_by_tenant on sessions (tenant_id, id);
create index sessions_unused on sessions (changed_period) where ended_at is null;

-- What a harness needs to continue, and which context files the session has already announced.
create table session_states (
  session_id text collate "C" primary key references sessions (id),
  checkpoint text collate "C",
  context text collate "C",
  -- The state of the session folder: the digest of its archive, `bare` while it needs none, or `local-…` where only the
  -- machine that executed the last leg has it. Null for sessions of a single machine.
  snapshot text collate "C",
  -- Set when the checkpoint is a recovery point: the run, and the last event that the checkpoint covers.
  checkpoint_run_id text collate "C",
  checkpoint_seq bigint,
  -- The number of the checkpoint's format and the digest of the agent that made it (D-99).
  checkpoint_format bigint,
  checkpoint_agent text collate "C"
);
-- For the snapshots of ended sessions.
create index session_states_saved on session_states (session_id) where snapshot is not null;

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
  cancel_requested_at bigint,
  -- Whether recovery ended the run: its terminal event says so (spec §6 rule 4), also when it is rebuilt from this row.
  recovered bigint not null default 0,
  -- From when on a worker may continue the run: unlike `ready_at`, it may be in the future (D-93).
  continue_at bigint,
  -- Workers lost since the last recovery point, and in total.
  losses bigint not null default 0,
  losses_total bigint not null default 0,
  -- Why the last leg was interrupted; null once the run was continued.
  interrupted_by text collate "C",
  -- The client that started the run; null if a person did.
  client_id text collate "C",
  -- In millionths of the currency of the deployment. Null while no report has a cost.
  cost_micros bigint,
  -- The currency of the cost: an operator may change the one of the deployment (D-131).
  cost_currency text collate "C",
  -- 1 from the end of the run until the totals include it.
  is_usage_due bigint not null default 0,
  -- When the last leg was interrupted, and how long all of them executed (D-87, D-95).
  interrupted_at bigint,
  executed_ms bigint not null default 0,
  -- When the current leg began to work; null between legs and while its live agent waits for a person.
  leg_started_at bigint,
  -- The first words of the prompt, and who started the run.
  preview text collate "C",
  created_by text collate "C",
  -- As JSON. The same labels are rows of `labels`, where lists find them.
  labels text collate "C",
  -- Whether the run has used tokens that no report names: a message of its model was cut (D-97).
  usage_is_partial bigint not null default 0,
  -- The client or person that asked to cancel the run (D-155).
  cancelled_by text collate "C",
  -- The ceiling of the run: that of its agent when it was started, or a lower one that the request named.
  max_tokens bigint,
  max_cost_micros bigint,
  -- Session folders on several machines (D-91): which machine executed the last leg, up to which lease its changes of the
  -- folder are archived, until when the run waits for that machine, and whether it continues without its changes.
  last_machine text collate "C",
  saved_epoch bigint not null default 0,
  hold_until bigint,
  is_behind bigint not null default 0
);
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

-- Partitioned by time, with partitions made ahead and dropped whole (store/event-partitions.ts): ids sort by age, so a
-- range of them is a time. A statement that names the run reads one partition.
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
  -- What a question of the service itself is about, as JSON.
  about text collate "C",
  unique (run_id, request_id)
);
create index interactions_by_session on interactions (session_id, status, interaction_key);
create index interactions_expiring on interactions (expires_at) where status = 'pending';
create index interactions_by_tenant on interactions (tenant_id, interaction_key);
create index interactions_open on interactions (tenant_id, interaction_key) where status = 'pending';

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
-- The storage of a tenant is the sum of its files.
create index files_by_tenant on files (tenant_id, size_bytes);

-- Append-only, hash-chained per organization; `organization_id` is `deployment` for what concerns none.
create table audit_rows (
  organization_id text collate "C" not null,
  seq bigint not null,
  at bigint not null,
  actor_kind text collate "C" not null
    check (actor_kind in ('user', 'client', 'operator', 'system', 'anonymous')),
  actor_id text collate "C" not null,
  request_id text collate "C",
  address text collate "C",
  action text collate "C" not null,
  object text collate "C" not null,
  outcome text collate "C" not null check (outcome in ('done', 'denied')),
  details text collate "C" not null,
  previous_hash text collate "C" not null,
  hash text collate "C" not null,
  primary key (organization_id, seq)
);
create index audit_rows_by_time on audit_rows (at);
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit rows are never changed or removed';
end $$;
create trigger audit_rows_stay before update or delete or truncate on audit_rows
  for each statement execute function refuse_audit_change();

-- The end of each chain. The writer of a row locks this one, so that a chain never forks.
create table audit_heads (
  organization_id text collate "C" primary key,
  seq bigint not null,
  hash text collate "C" not null,
  -- HMAC of the head under a key that is not in the database, so that a head that was changed there is noticed.
  -- Null until `convoke audit seal` for a chain without one.
  seal text collate "C"
);

-- Withdrawals of access whose cleanup still runs. The rows of clients and credentials already refuse access.
create table withdrawals (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id),
  client_record_id text collate "C" not null references clients (id),
  credential_id text collate "C" references credentials (id),
  kind text collate "C" not null
    check (kind in ('change_permissions', 'disable_client', 'delete_client', 'revoke_credential')),
  step text collate "C" not null,
  attempts bigint not null,
  next_attempt_at bigint not null,
  requested_at bigint not null
);
create index withdrawals_due on withdrawals (next_attempt_at);
create index withdrawals_by_client on withdrawals (client_record_id);

create table user_passwords (
  user_id text collate "C" primary key references users (id),
  hash text collate "C" not null,
  is_one_time bigint not null,
  set_at bigint not null,
  expires_at bigint
);

-- Records of the built-in identity provider: sessions, codes, refresh tokens. A secret is sealed and found by a keyed
-- digest, so that a copy of the database signs no one in.
create table identity_records (
  model text collate "C" not null,
  digest text collate "C" not null,
  user_id text collate "C",
  grant_digest text collate "C",
  uid_digest text collate "C",
  user_code_digest text collate "C",
  payload text collate "C" not null,
  consumed_at bigint,
  expires_at bigint not null,
  primary key (model, digest)
);
create index identity_records_expired on identity_records (expires_at);
create index identity_records_by_user on identity_records (user_id);
create index identity_records_by_grant on identity_records (grant_digest);
create index identity_records_by_uid on identity_records (uid_digest);
create index identity_records_by_user_code on identity_records (user_code_digest);

-- Which user a person of another issuer is.
create table user_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null references users (id),
  created_at bigint not null,
  primary key (issuer, subject)
);

-- Token buckets that all servers share, each as the time at which it is full again, in microseconds.
create table rate_limits (
  key text collate "C" primary key,
  full_at bigint not null
);
create index rate_limits_by_time on rate_limits (full_at);

-- Blobs to be removed: bytes of deleted files, replaced snapshots, and blobs that no row names yet because they are still
-- being stored. `owner_id` is a file or a session; an empty `sha256` means all blobs of the owner.
create table blob_removals (
  tenant_id text collate "C" not null,
  owner_id text collate "C" not null,
  sha256 text collate "C" not null,
  due_at bigint not null,
  claimed bigint not null default 0,
  primary key (tenant_id, owner_id, sha256)
);
create index blob_removals_due on blob_removals (due_at);

-- Tool calls with an effect. A row is committed before its call starts, so that after a loss it is known which calls may
-- have been carried out.
create table tool_calls (
  run_id text collate "C" not null references runs (id),
  ref text collate "C" not null,
  tenant_id text collate "C" not null,
  epoch bigint not null,
  tool_name text collate "C" not null,
  input text collate "C" not null,
  touches text collate "C" not null check (touches in ('workspace', 'outside', 'both')),
  status text collate "C" not null check (status in ('begun', 'ended', 'left', 'again')),
  ok bigint,
  output text collate "C",
  begun_at bigint not null,
  ended_at bigint,
  -- Whether the tool's server says that the call may be carried out twice without harm, and the agent trusts it (D-81).
  is_repeatable bigint not null default 0,
  -- Whether the call's changes of the session folder are in an archive that was made during its leg (D-92).
  is_saved bigint not null default 0,
  primary key (run_id, ref)
);

-- Notices of the feed that have no number yet, each written in the transaction of its change (D-110). The position orders
-- the notices of one session: its changes are serialized by a row lock, so a later one takes a later position.
create table outbox (
  position bigint generated by default as identity primary key,
  tenant_id text collate "C" not null,
  type text collate "C" not null,
  body text collate "C" not null
);
create index outbox_by_tenant on outbox (tenant_id, position);

-- The numbers in use: `oldest_seq` is the first notice that is kept, or the next one if none is.
create table feeds (
  tenant_id text collate "C" primary key,
  last_seq bigint not null,
  oldest_seq bigint not null
);

create table notices (
  tenant_id text collate "C" not null,
  seq bigint not null,
  type text collate "C" not null,
  body text collate "C" not null,
  -- When the notice got its number.
  created_at bigint not null,
  primary key (tenant_id, seq)
);

-- The ledger of tokens and costs: one row for each report of a leg, with what was used since its last report (D-130).
create table usage_entries (
  run_id text collate "C" not null references runs (id),
  epoch bigint not null,
  seq bigint not null,
  tenant_id text collate "C" not null,
  organization_id text collate "C" not null,
  session_id text collate "C" not null,
  client_id text collate "C",
  agent_name text collate "C" not null,
  model text collate "C" not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_input_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micros bigint,
  cost_source text collate "C" check (cost_source in ('priced', 'reported')),
  at bigint not null,
  cost_currency text collate "C",
  -- 1 once the totals include the entry.
  is_counted bigint not null default 0,
  primary key (run_id, epoch, seq)
);
create index usage_entries_uncounted on usage_entries (run_id, epoch, seq) where is_counted = 0;

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
  updated_at bigint not null,
  -- As JSON; the runs of the schedule get them (D-256). Null for none.
  labels text collate "C"
);
create index schedules_by_tenant on schedules (tenant_id, id);
create index schedules_due on schedules (next_at) where status = 'active';

-- One row for each slot in the past. Its key makes a slot start at most one run.
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

-- Totals of usage: one row for each hour and day (`grain`) of an agent, model and client, and for each day of a session.
-- Runs are counted where they ended, with an empty model (D-130).
create table usage_totals (
  tenant_id text collate "C" not null,
  grain text collate "C" not null check (grain in ('hour', 'day', 'session')),
  starts_at bigint not null,
  agent_name text collate "C" not null,
  model text collate "C" not null,
  client_id text collate "C" not null,
  session_id text collate "C" not null,
  organization_id text collate "C" not null,
  completed bigint not null,
  failed bigint not null,
  cancelled bigint not null,
  run_ms bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_input_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micros bigint,
  primary key (tenant_id, grain, starts_at, agent_name, model, client_id, session_id)
);
create index usage_totals_of_organization on usage_totals (organization_id, grain, starts_at);
create index usage_totals_old on usage_totals (grain, starts_at);

-- Labels of runs and sessions (`owner_id`), for lists that filter by them (D-253).
create table labels (
  owner_id text collate "C" not null,
  key text collate "C" not null,
  tenant_id text collate "C" not null,
  value text collate "C" not null,
  primary key (owner_id, key)
);
create index labels_find on labels (tenant_id, key, value, owner_id);

-- How far the hash chain of each organization was checked (domain/audit.ts, ChainCheck).
create table audit_checks (
  organization_id text collate "C" primary key,
  walked_seq bigint not null,
  walked_hash text collate "C" not null,
  walk_started_at bigint not null,
  verified_to_seq bigint not null,
  verified_at bigint not null,
  problem_seq bigint,
  problem text collate "C"
);

-- Budgets of tenants, clients, agents and sessions (D-132 to D-134).
create table budgets (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  scope_kind text collate "C" not null check (scope_kind in ('tenant', 'client', 'agent', 'session')),
  scope_id text collate "C" not null,
  period text collate "C" not null check (period in ('day', 'month', 'total')),
  max_tokens bigint,
  max_cost_micros bigint,
  version bigint not null,
  created_by text collate "C" not null,
  created_at bigint not null,
  updated_at bigint not null
);
create unique index one_budget on budgets (organization_id, scope_kind, scope_id, period);

-- How much of a budget was used in a period, in several rows, so that reports of many runs do not wait for each other.
create table budget_periods (
  budget_id text collate "C" not null references budgets (id),
  starts_at bigint not null,
  shard bigint not null,
  tokens bigint not null,
  cost_micros bigint not null,
  primary key (budget_id, starts_at, shard)
);

-- Shares of a budget that were announced.
create table budget_notices (
  budget_id text collate "C" not null references budgets (id),
  starts_at bigint not null,
  percent bigint not null,
  primary key (budget_id, starts_at, percent)
);

create table webhooks (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  tenant_id text collate "C" not null,
  url text collate "C" not null,
  description text collate "C",
  types text collate "C" not null,
  agent_names text collate "C",
  status text collate "C" not null check (status in ('active', 'disabled')),
  status_reason text collate "C",
  sealed_secret text collate "C" not null,
  secret_hint text collate "C" not null,
  previous_secret text collate "C",
  previous_until bigint,
  version bigint not null,
  last_success_at bigint,
  failing_since bigint,
  failures_in_row bigint not null,
  not_before bigint not null,
  created_by text collate "C" not null,
  created_by_kind text collate "C" not null check (created_by_kind in ('client', 'user')),
  created_at bigint not null,
  updated_at bigint not null,
  -- As JSON; the webhook gets only notices that have all of them (D-256). Null for none.
  labels text collate "C"
);
create index webhooks_by_tenant on webhooks (tenant_id, id);

-- One notice for one webhook. The body of a notice is in `notices`; only a test has one of its own.
create table webhook_deliveries (
  id text collate "C" primary key,
  webhook_id text collate "C" not null,
  tenant_id text collate "C" not null,
  notice_seq bigint,
  type text collate "C" not null,
  test_body text collate "C",
  status text collate "C" not null check (status in ('pending', 'sending', 'delivered', 'failed', 'blocked')),
  tries bigint not null,
  next_try_at bigint not null,
  lease_owner text collate "C",
  lease_expires_at bigint,
  response_status bigint,
  response_excerpt text collate "C",
  error text collate "C",
  created_at bigint not null,
  ended_at bigint
);
create unique index one_delivery on webhook_deliveries (webhook_id, notice_seq) where notice_seq is not null;
create index deliveries_by_webhook on webhook_deliveries (webhook_id, id);
create index deliveries_due on webhook_deliveries (webhook_id, next_try_at, id) where status = 'pending';
create index deliveries_sending on webhook_deliveries (lease_expires_at) where status = 'sending';
create index deliveries_by_tenant on webhook_deliveries (tenant_id);
create index deliveries_by_time on webhook_deliveries (created_at);

-- Usage by label: one row for each day of a label of runs that used something (D-255).
create table usage_label_totals (
  tenant_id text collate "C" not null,
  label_key text collate "C" not null,
  starts_at bigint not null,
  label_value text collate "C" not null,
  organization_id text collate "C" not null,
  completed bigint not null,
  failed bigint not null,
  cancelled bigint not null,
  run_ms bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_input_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micros bigint,
  primary key (tenant_id, label_key, starts_at, label_value)
);
create index usage_label_totals_of_organization
  on usage_label_totals (organization_id, label_key, starts_at, label_value);
create index usage_label_totals_old on usage_label_totals (starts_at);

-- A second lock beside the tenant that every statement names: a connection in the scope of a tenant reaches the rows of
-- no other, one with the scope '*' (the service's own work) all rows, and one without a scope none.
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
alter table blob_removals enable row level security, force row level security;
alter table tool_calls enable row level security, force row level security;
alter table outbox enable row level security, force row level security;
alter table feeds enable row level security, force row level security;
alter table notices enable row level security, force row level security;
alter table usage_entries enable row level security, force row level security;
alter table schedules enable row level security, force row level security;
alter table schedule_fires enable row level security, force row level security;
alter table usage_totals enable row level security, force row level security;
alter table labels enable row level security, force row level security;
alter table webhooks enable row level security, force row level security;
alter table webhook_deliveries enable row level security, force row level security;
alter table usage_label_totals enable row level security, force row level security;

create policy of_tenant on sessions using (may_touch(tenant_id));
create policy of_tenant on runs using (may_touch(tenant_id));
create policy of_tenant on run_events using (may_touch(tenant_id));
create policy of_tenant on run_events_elsewhere using (may_touch(tenant_id));
create policy of_tenant on interactions using (may_touch(tenant_id));
create policy of_tenant on files using (may_touch(tenant_id));
create policy of_tenant on idempotency_keys using (may_touch(tenant_id));
create policy of_tenant on blob_removals using (may_touch(tenant_id));
create policy of_tenant on tool_calls using (may_touch(tenant_id));
create policy of_tenant on outbox using (may_touch(tenant_id));
create policy of_tenant on feeds using (may_touch(tenant_id));
create policy of_tenant on notices using (may_touch(tenant_id));
create policy of_tenant on usage_entries using (may_touch(tenant_id));
create policy of_tenant on schedules using (may_touch(tenant_id));
create policy of_tenant on schedule_fires using (may_touch(tenant_id));
create policy of_tenant on usage_totals using (may_touch(tenant_id));
create policy of_tenant on labels using (may_touch(tenant_id));
create policy of_tenant on webhooks using (may_touch(tenant_id));
create policy of_tenant on webhook_deliveries using (may_touch(tenant_id));
create policy of_tenant on usage_label_totals using (may_touch(tenant_id));

-- A value, not `exists`: for that, a plan made while `sessions` was empty reads all sessions at each use.
create policy of_tenant on session_states using (
  current_setting('convoke.tenant', true) = '*'
  or (select id from sessions where id = session_id) is not null
);
