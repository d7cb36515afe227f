-- Lists over a whole tenant, and labels (D-252, D-253).

-- The first words of the prompt, and who started the run. Null in rows that are older.
alter table runs add column preview text;
alter table runs add column created_by text;
-- As JSON. The same labels are rows of `labels`, where lists find them.
alter table runs add column labels text;
alter table sessions add column title text;
alter table sessions add column created_by text;
alter table sessions add column labels text;

create index if not exists runs_by_tenant on runs (tenant_id, id);
create index if not exists runs_open on runs (tenant_id, status, id) where ended_at is null;
create index if not exists runs_failed on runs (tenant_id, id) where status = 'failed';
create index if not exists interactions_by_tenant on interactions (tenant_id, interaction_key);
create index if not exists interactions_open on interactions (tenant_id, interaction_key) where status = 'pending';

-- `owner_id` is a run or a session.
create table labels (
  owner_id text not null,
  key text not null,
  tenant_id text not null,
  value text not null,
  primary key (owner_id, key)
) strict, without rowid;
create index labels_find on labels (tenant_id, key, value, owner_id);
