create table user_passwords (
  user_id text collate "C" primary key references users (id),
  hash text collate "C" not null,
  is_one_time bigint not null,
  set_at bigint not null,
  expires_at bigint
);

-- What the built-in identity provider remembers: sessions, codes, refresh tokens. Whatever could be used by
-- who reads it is sealed, and found by a keyed digest.
create table identity_records (
  model text collate "C" not null,
  digest text collate "C" not null,
  user_id text collate "C",
  grant_digest text collate "C",
  uid_digest text collate "C",
  user_code_digest text collate "C",
  payload text collate "C" not null,
  consumed_at bigint,
  expires_at bigint not null,
  primary key (model, digest)
);
create index identity_records_expired on identity_records (expires_at);
create index identity_records_by_user on identity_records (user_id);
create index identity_records_by_grant on identity_records (grant_digest);
create index identity_records_by_uid on identity_records (uid_digest);
create index identity_records_by_user_code on identity_records (user_code_digest);

-- Who a person of another issuer is here.
create table user_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null references users (id),
  created_at bigint not null,
  primary key (issuer, subject)
);
