-- The rules of an organization about tool calls: one document, replaced as a whole (D-500).
create table organization_rules (
  organization_id text primary key references organizations (id),
  -- Counts the changes: the transaction of each call compares it.
  version integer not null,
  -- The list as it was sent, as JSON.
  rules text not null,
  updated_by text not null,
  updated_at integer not null
) strict, without rowid;

-- As JSON: the rules that asked, with their demands as they were then.
alter table interactions add column asked text;
-- As JSON: who has allowed it so far, and when.
alter table interactions add column approvals text;
-- How far the allow reaches: exact or tool; null for an allow of this call only.
alter table interactions add column remembered text;
-- What decided where no person did: rule, memory or expiry.
alter table interactions add column decided_by text;
-- The ref of the call that the allow was for: no other may use it.
alter table interactions add column spent_on text;
create index if not exists interactions_remembered on interactions (session_id, interaction_key)
  where remembered is not null;
