-- HMAC of the head under a key that is not in the database: a head that was changed there has a seal that does not fit.
-- Null until `convoke audit seal` for chains that are older than this column.
alter table audit_heads add column seal text collate "C";
