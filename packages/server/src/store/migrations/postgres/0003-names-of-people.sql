-- What a person wants to be called (D-415); null: records show the address.
alter table users add column name text collate "C";
