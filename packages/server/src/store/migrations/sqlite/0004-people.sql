create table user_passwords (
  user_id text primary key references users (id),
  hash text not null,
  is_one_time integer not null,
  set_at integer not null,
  expires_at integer
) strict, without rowid;

-- What the built-in identity provider remembers: sessions, codes, refresh tokens. Whatever could be used by
-- who reads it is sealed, and found by a keyed digest.
create table identity_records (
  model text not null,
  digest text not null,
  user_id text,
  grant_digest text,
  uid_digest text,
  user_code_digest text,
  payload text not null,
  consumed_at integer,
  expires_at integer not null,
  primary key (model, digest)
) strict, without rowid;
create index identity_records_expired on identity_records (expires_at);
create index identity_records_by_user on identity_records (user_id);
create index identity_records_by_grant on identity_records (grant_digest);
create index identity_records_by_uid on identity_records (uid_digest);
create index identity_records_by_user_code on identity_records (user_code_digest);

-- Who a person of another issuer is here.
create table user_identities (
  issuer text not null,
  subject text not null,
  user_id text not null references users (id),
  created_at integer not null,
  primary key (issuer, subject)
) strict, without rowid;
