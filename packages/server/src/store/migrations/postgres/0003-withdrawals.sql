-- Withdrawals of access whose cleanup still runs. What bites is in the rows of clients and credentials.
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
