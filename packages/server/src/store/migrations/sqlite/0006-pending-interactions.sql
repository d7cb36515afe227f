-- contract: release 0.1 uses the new index where it used the old one: it begins with the same columns.
-- With the times, the overview is read from it alone: in a row they are behind the input, which SQLite walks through (D-780).
create index if not exists interactions_pending
  on interactions (tenant_id, interaction_key, created_at, answered_at, expires_at) where status = 'pending';
drop index if exists interactions_open;
