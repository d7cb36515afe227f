/**
 * D-70: every error code of the service, with its status and its default message. An operation may
 * declare another status for a code (`at` in operation.ts): `session_terminal` is 412 on an idempotent
 * create (D-12).
 */
export const errors = {
  // The gate (D-52, D-54)
  unauthorized: { status: 401, message: 'The access token is missing, expired or invalid.' },
  missing_selector: {
    status: 400,
    message: 'A header that selects the organization or the tenant is missing.',
  },
  invalid_selector: {
    status: 400,
    message:
      'The headers that select the organization and the tenant are malformed or contradict each other.',
  },
  forbidden: {
    status: 403,
    message: 'The caller has no access to this organization, tenant or operation.',
  },
  insufficient_scope: {
    status: 403,
    message: 'The caller lacks the scope that this operation needs.',
  },

  // The shape of a request (D-71, D-72)
  invalid_json: {
    status: 400,
    message: 'The body is not valid JSON in UTF-8, or it is nested too deeply.',
  },
  invalid_body: {
    status: 400,
    message: 'A field of the body is missing or invalid.',
  },
  unknown_field: {
    status: 400,
    message: 'The body has a field that this operation does not declare.',
  },
  duplicate_key: { status: 400, message: 'The body contains the same field twice.' },
  not_supported: {
    status: 400,
    message: 'Sessions do not support this request.',
  },
  invalid_query: { status: 400, message: 'A query parameter has an invalid value.' },
  unknown_query_parameter: {
    status: 400,
    message: 'The query has a parameter that this operation does not declare.',
  },
  invalid_cursor: {
    status: 400,
    message: 'The cursor does not belong to this list. Start again without it.',
  },
  invalid_status: { status: 400, message: 'The status filter has an unknown value.' },
  invalid_label: {
    status: 400,
    message: 'A label has an invalid key or value.',
  },
  invalid_last_event_id: {
    status: 400,
    message: 'Last-Event-ID is not the id of an event of this run.',
  },
  cursor_expired: {
    status: 410,
    message:
      'Notices after this cursor are no longer kept. Read the lists again, then follow from the newest one.',
  },
  invalid_idempotency_key: {
    status: 400,
    message:
      'The Idempotency-Key header must be sent once, with 8 to 256 characters without control characters.',
  },
  invalid_answer: {
    status: 400,
    message: 'The answer does not match the kind of this interaction, which is still pending.',
  },
  body_too_large: { status: 413, message: 'The body is larger than this operation accepts.' },
  unsupported_media_type: {
    status: 415,
    message: 'The content type or content encoding of the body is not supported here.',
  },
  not_acceptable: {
    status: 406,
    message: 'This operation returns text/event-stream or application/json.',
  },
  method_not_allowed: { status: 405, message: 'This path does not support this method.' },

  // Absence (D-43, D-53)
  not_found: { status: 404, message: 'Not found.' },
  agent_not_found: {
    status: 404,
    message: 'The agent does not exist or is not enabled for this tenant.',
  },
  files_unavailable: { status: 404, message: 'Files are not available for this session.' },

  // Sessions and runs (D-12 to D-15, D-23, D-24)
  idempotency_conflict: {
    status: 409,
    message: 'This idempotency key was used before with a different body.',
  },
  session_terminal: { status: 409, message: 'The session has ended and cannot be used again.' },
  session_stopped: {
    status: 409,
    message: 'The session is stopped. Resume it before starting a run.',
  },
  session_busy: { status: 409, message: 'The session cannot accept another run now.' },
  run_terminal: { status: 409, message: 'The run has already ended.' },

  label_limit_reached: { status: 409, message: 'Too many labels.' },
  feedback_limit_reached: { status: 409, message: 'The run has as much feedback as it can have.' },

  signal_limit_reached: {
    status: 409,
    message: 'The run has as many messages as it can have.',
  },

  // Interactions (D-38)
  interaction_answered: {
    status: 409,
    message: 'The interaction already has a different answer.',
  },
  interaction_not_pending: {
    status: 409,
    message: 'The interaction has expired or was cancelled.',
  },

  not_an_approver: {
    status: 403,
    message: 'The caller may not allow this call.',
  },
  denied_by_rule: {
    status: 409,
    message: 'A rule now denies this call. The request can only be denied.',
  },

  // Files (D-41, D-42)
  file_too_large: { status: 413, message: 'The file is larger than this deployment accepts.' },
  content_mismatch: {
    status: 400,
    message: 'The uploaded bytes do not match the declared size or digest.',
  },
  file_already_uploaded: { status: 409, message: 'The file already has other content.' },
  file_limit_reached: {
    status: 409,
    message: 'The session has the maximum number of files. Delete one first.',
  },
  storage_limit_reached: {
    status: 409,
    message: 'The tenant would exceed its file storage limit. Delete some files first.',
  },
  file_not_ready: { status: 409, message: 'The content of the file has not been uploaded yet.' },
  range_not_satisfiable: { status: 416, message: 'The requested range is outside the file.' },

  // Schedules (D-140)
  invalid_cron: {
    status: 400,
    message: 'cron must have five fields and match at least one future time.',
  },
  invalid_time_zone: { status: 400, message: 'time_zone must be the name of an IANA time zone.' },
  schedule_limit_reached: {
    status: 409,
    message: 'The tenant has the maximum number of schedules. Delete one first.',
  },

  // Webhooks (D-120, D-123)
  invalid_webhook_url: {
    status: 400,
    message: 'url must be an https URL of a public address.',
  },
  webhook_limit_reached: {
    status: 409,
    message: 'The tenant has the maximum number of webhooks. Delete one first.',
  },

  // Connections (D-590, D-601, D-609)
  connection_missing: {
    status: 409,
    message: 'The agent needs an account that is not connected.',
  },
  invalid_connection_url: {
    status: 400,
    message: 'token_endpoint must be an https URL of a public address.',
  },
  connect_unavailable: {
    status: 409,
    message: 'Accounts of this service cannot be connected by a link.',
  },
  invalid_ticket: {
    status: 400,
    message: 'The ticket is wrong, used or too old. Begin again.',
  },
  connection_limit_reached: {
    status: 409,
    message: 'The tenant has the maximum number of connections. Delete one first.',
  },

  // Automation clients and credentials (D-61 to D-64)
  client_limit_reached: {
    status: 409,
    message: 'The organization has the maximum number of automation clients.',
  },
  credential_limit_reached: {
    status: 409,
    message: 'The client already has two live credentials. Revoke one first.',
  },
  secret_already_issued: {
    status: 409,
    message: 'This Idempotency-Key already issued its secret, which cannot be shown again.',
  },
  version_conflict: { status: 409, message: 'The record has changed since this version was read.' },
  status_change_not_combinable: {
    status: 400,
    message: 'A status change cannot be combined with other changes.',
  },

  // Budgets (D-132, D-134)
  budget_exhausted: {
    status: 409,
    message: 'A budget is used up. `resets_at` says when the next period starts, if there is one.',
  },
  unpriced_model: {
    status: 409,
    message: 'A cost limit applies, but a model has no price on this server.',
  },
  budget_limit_reached: {
    status: 409,
    message: 'The organization has the maximum number of budgets.',
  },

  // Invitations (D-331, D-332)
  invitation_limit_reached: {
    status: 409,
    message: 'The organization has the maximum number of open invitations. Revoke one first.',
  },
  invitation_not_found: {
    status: 404,
    message: 'This invitation does not exist, was used or revoked, or has expired.',
  },
  invitation_for_another: {
    status: 409,
    message: 'This invitation is for another email address.',
  },
  email_taken: {
    status: 409,
    message:
      'This email address already has an account. Sign in with it, then open the invitation again.',
  },
  already_member: { status: 409, message: 'The person already belongs to the organization.' },
  last_owner: {
    status: 409,
    message:
      'The last owner cannot be removed or given another role: make another member owner first.',
  },

  // Tenants (D-67)
  tenant_not_retryable: {
    status: 409,
    message: 'Only a tenant whose provisioning failed can be retried.',
  },
  confirmation_mismatch: { status: 400, message: 'confirm must be the exact id of the tenant.' },
  unsupported_mode: { status: 400, message: 'This deployment does not support that tenant mode.' },
  tenant_limit_reached: {
    status: 409,
    message: 'The organization has the maximum number of tenants.',
  },

  // The token endpoint (RFC 6749 section 5.2, D-50)
  invalid_request: { status: 400, message: 'The token request is malformed.' },
  invalid_client: { status: 401, message: 'Client authentication failed.' },
  invalid_grant: {
    status: 400,
    message: 'The code or refresh token is unknown, used, expired or withdrawn.',
  },
  unsupported_grant_type: {
    status: 400,
    message: 'This grant_type is not supported here.',
  },
  invalid_target: {
    status: 400,
    message: 'The resource is not a tenant that this person can use.',
  },
  invalid_scope: {
    status: 400,
    message: 'The requested scope is unknown or not granted to this client or person.',
  },

  // Load and outages
  rate_limited: { status: 429, message: 'Too many requests. Wait for the time in Retry-After.' },
  storage_unavailable: {
    status: 503,
    message: 'Storage is temporarily unavailable. Retry after a pause.',
  },
  identity_unavailable: {
    status: 503,
    message: 'The identity provider cannot be reached. Retry after a pause.',
  },
  not_ready: { status: 503, message: 'The server is not ready to accept requests.' },
  internal: { status: 500, message: 'Internal server error.' },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>;

export type ErrorCode = keyof typeof errors;

/** Returned by the router when no operation matches. */
export const routingErrors = [
  'not_found',
  'method_not_allowed',
] as const satisfies readonly ErrorCode[];

/** Error codes of invalid query parameters; a parameter not listed gets `invalid_query`. */
export const queryErrors: Readonly<Record<string, ErrorCode>> = {
  cursor: 'invalid_cursor',
  status: 'invalid_status',
  label: 'invalid_label',
};

/** Error codes of invalid headers. */
export const headerErrors = {
  'idempotency-key': 'invalid_idempotency_key',
  'last-event-id': 'invalid_last_event_id',
} as const satisfies Record<string, ErrorCode>;

/** D-25: reasons for a failed run, in `error_code` of the run and of its `error` event. */
export const runErrors = {
  agent_error: 'The agent reported a failure.',
  model_error: 'The model behind the agent failed or refused.',
  tool_error: 'A tool failed in a way the agent could not handle.',
  run_timeout: 'The run took longer than its agent allows.',
  interaction_expired: 'An interaction was not answered in time.',
  worker_lost: 'The worker that executed the run died.',
  tool_in_doubt:
    'The worker died during a tool call, and it is not known whether the call was carried out.',
  sandbox_unavailable: 'The sandbox for the agent could not be started.',
  budget_exceeded: 'The run, or a budget that applies to it, reached its ceiling.',
  output_invalid:
    'The output of the agent does not fit its output_schema, is too large, or is missing.',
  connection_missing:
    'An account that the agent needs is not connected, or cannot be used any more.',
  internal_error: 'Internal server error.',
} as const;

export type RunErrorCode = keyof typeof runErrors;

export const runErrorCodes = [
  'agent_error',
  'model_error',
  'tool_error',
  'run_timeout',
  'interaction_expired',
  'worker_lost',
  'tool_in_doubt',
  'sandbox_unavailable',
  'budget_exceeded',
  'output_invalid',
  'connection_missing',
  'internal_error',
] as const satisfies readonly RunErrorCode[];
