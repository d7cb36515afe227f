-- Token buckets that all servers share, each as the time at which it is full again, in microseconds.
create table rate_limits (
  key text primary key,
  full_at integer not null
) strict, without rowid;
create index rate_limits_by_time on rate_limits (full_at);
