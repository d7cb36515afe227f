-- Withdrawals of access whose cleanup still runs. What bites is in the rows of clients and credentials.
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
