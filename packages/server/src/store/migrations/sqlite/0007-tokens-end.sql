-- Tokens that were issued before this moment are refused.
alter table clients add column not_before integer not null default 0;
alter table users add column not_before integer not null default 0;
