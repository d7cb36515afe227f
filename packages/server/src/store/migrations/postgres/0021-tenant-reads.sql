-- Lists over a whole tenant, and labels (D-252, D-253).

-- The first words of the prompt, and who started the run. Null in rows that are older.
alter table runs add column preview text collate "C";
alter table runs add column created_by text collate "C";
-- As JSON. The same labels are rows of `labels`, where lists find them.
alter table runs add column labels text collate "C";
alter table sessions add column title text collate "C";
alter table sessions add column created_by text collate "C";
alter table sessions add column labels text collate "C";

create index if not exists runs_by_tenant on runs (tenant_id, id);
create index if not exists runs_open on runs (tenant_id, status, id) where ended_at is null;
create index if not exists runs_failed on runs (tenant_id, id) where status = 'failed';
create index if not exists interactions_by_tenant on interactions (tenant_id, interaction_key);
create index if not exists interactions_open on interactions (tenant_id, interaction_key) where status = 'pending';

-- `owner_id` is a run or a session.
create table labels (
  owner_id text collate "C" not null,
  key text collate "C" not null,
  tenant_id text collate "C" not null,
  value text collate "C" not null,
  primary key (owner_id, key)
);
create index labels_find on labels (tenant_id, key, value, owner_id);
alter table labels enable row level security, force row level security;
create policy of_tenant on labels using (may_touch(tenant_id));
