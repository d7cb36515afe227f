-- Whether recovery ended the run: its terminal event says so (spec §6 rule 4), also when it is rebuilt from this row.
alter table runs add column recovered bigint not null default 0;
