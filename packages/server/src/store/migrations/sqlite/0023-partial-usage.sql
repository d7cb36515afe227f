-- Whether the run has used tokens that no report names: a message of its model was cut (D-97).
alter table runs add column usage_is_partial integer not null default 0;
