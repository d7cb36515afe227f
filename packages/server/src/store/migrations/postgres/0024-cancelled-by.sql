-- The client or person that asked to cancel the run (D-155).
alter table runs add column cancelled_by text collate "C";
