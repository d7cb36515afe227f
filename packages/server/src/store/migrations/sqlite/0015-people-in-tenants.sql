-- Roles for the tenants of an organization (D-153). `role` stays `member` for both, so that a server of the previous
-- release, which does not know them, gives no rights.
alter table memberships add column member_role text check (member_role in ('operator', 'viewer'));
