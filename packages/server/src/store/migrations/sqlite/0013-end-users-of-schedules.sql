-- For whom a schedule opens its sessions (D-591).
alter table schedules add column end_user text;
