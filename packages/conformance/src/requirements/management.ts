import { type Requirement, must, optional } from './requirement.ts';

/** Sections 4.3 and 8: the organization management API and its limits. */
export const managementRequirements: readonly Requirement[] = [
  must('4.3-human', 'An automation client cannot call the management API.'),
  must('4.3-no-token', 'The management API answers 401 without a token.'),
  must('4.3-no-headers', 'The management API needs no workspace headers.'),

  must('4.3-list-clients', 'GET m2m returns {clients} without secrets.'),
  must('4.3-profiles', 'GET m2m/profiles returns profiles, scopes and a catalog version.'),
  must('4.3-create-client', 'POST m2m answers 201 with client, credential, id and secret.'),
  must('4.3-content-type', 'Creating a client requires Content-Type: application/json.'),
  must('4.3-client-key', 'Creating a client requires an Idempotency-Key.'),
  must('4.3-client-profile', 'The profile of a client is one of four.'),
  must('4.3-client-name', 'A client needs a name.'),
  must('4.3-client-custom', 'The profile custom takes an array of supported scopes.'),
  must('4.3-one-secret', 'A repeated create never issues another secret: it is a conflict.'),
  must('4.3-get-client', 'GET m2m/{id} returns {client, credentials} without secrets.'),
  must('4.3-rename', 'PATCH renames a client.'),
  must('4.3-patch-profile', 'PATCH changes the permissions of a client.'),
  must('4.3-version-required', 'PATCH requires version.'),
  must('4.3-stale-version', 'A stale version answers a conflict.'),
  must('4.3-status-alone', 'A change of status is not combined with other changes.'),
  must('4.3-add-credential', 'POST m2m/{id}/credentials adds a credential that works.'),
  must('4.3-credential-key', 'Adding a credential requires an Idempotency-Key.'),
  must('4.3-credential-label', 'The label of a credential is not empty.'),
  must('4.3-credential-once', 'A repeated add never issues another secret.'),
  must('4.3-revoke', 'DELETE of a credential answers 204 or 202.'),
  must('4.3-delete-client', 'DELETE of a client answers 204 or 202, and it is gone.'),

  must('4.3-list-tenants', 'GET tenants lists the tenants of the organization.'),
  must('4.3-create-tenant', 'POST tenants takes display_name and mode, and answers 202.'),
  must('4.3-tenant-key', 'Creating a tenant requires an Idempotency-Key.'),
  must('4.3-tenant-once', 'A repeated create with the same key makes no second tenant.'),
  must('4.3-get-tenant', 'GET tenants/{tenant_id} returns its lifecycle and attachment state.'),
  must('4.3-mode', 'A mode that the deployment does not support is refused.'),
  optional('4.3-retry', 'Retry of a tenant that did not fail is a conflict.'),
  must('4.3-offboard', 'Offboarding requires confirm to be the exact tenant id.'),

  must('8-key-length', 'An Idempotency-Key has 8 to 256 characters.'),
  must('8-days-default', 'A credential lives for 90 days unless the request says otherwise.'),
  must('8-days-max', 'A credential lives for at most 365 days.'),
  must('8-credentials', 'A client has at most two live credentials; a third is a conflict.'),
  must('8-clients', 'An organization has at most 20 clients that are not deleted.'),
  must('8-mutation-rate', 'Management mutations are limited per person; more answer 429.'),

  must('9-version', 'The version of a client is an integer that a change changes.'),
];
