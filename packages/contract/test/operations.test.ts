import { describe, expect, test } from 'vitest';
import {
  type ErrorCode,
  errors,
  errorsOf,
  limits,
  type Operation,
  operationList,
  operations,
  pathParams,
  requiredScopes,
  routingErrors,
  statusesOf,
  statusOfError,
} from '../src/index.ts';

const byId: [string, Operation][] = Object.entries(operations);

describe('every operation', () => {
  test.each(byId)('%s has its id as key', (key, operation) => {
    expect(operation.id).toBe(key);
    expect(key).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  // D-54: a route without a declared scope must not pass.
  test.each(byId)('%s names its scopes, or the reason why it needs none', (_, operation) => {
    if (operation.caller === 'automation' && requiredScopes(operation).length > 0) return;
    expect(operation.scope).toEqual({ unscoped: expect.stringMatching(/^.{10,}$/) });
  });

  test.each(byId)('%s declares at least one success', (_, operation) => {
    const successes = Object.keys(operation.responses).map(Number);
    expect(successes.some((status) => status >= 200 && status < 300)).toBe(true);
    // JSON-RPC says in a message of its own what is wrong with one.
    const own = successes.filter((status) => operation.content !== 'json-rpc' || status < 400);
    // 304 says that the client has the content already.
    for (const status of own) expect(status < 300 || status === 304).toBe(true);
  });

  test.each(byId)('%s has a well-formed path with exactly its parameters', (_, operation) => {
    expect(operation.path).toMatch(/^(\/([a-z0-9_.-]+|\{[a-z_]+\})(:[a-z]+)?)+$/);
    expect(Object.keys(operation.params ?? {})).toEqual(pathParams(operation.path));
  });

  test.each(byId)('%s says whether its body is required', (_, operation) => {
    const takesBody = operation.body !== undefined || operation.content === 'bytes';
    expect(typeof operation.bodyRequired).toBe(takesBody ? 'boolean' : 'undefined');
    if (takesBody) expect(operation.method).toMatch(/^(POST|PUT|PATCH)$/);
  });

  test.each(byId)('%s bounds what strangers send, and only that (D-460)', (_, operation) => {
    const { id, caller, body, content, maxBytes, networkRate } = operation;
    const isOpen = caller === 'anonymous' && (body !== undefined || content === 'bytes');
    expect(networkRate !== undefined).toBe(isOpen);
    if (!isOpen) return;
    // The data of a message (D-910).
    const most = id === 'receive_callback' ? limits.signalBodyMaxBytes : limits.formMaxBytes;
    expect(content === 'form' || (maxBytes ?? Infinity) <= most).toBe(true);
    expect(errorsOf(operation).map(({ code }) => code)).toContain('rate_limited');
  });

  test.each(byId)('%s declares no error twice and none that is common', (_, operation) => {
    const own = operation.errors.map((error) => (typeof error === 'string' ? error : error.code));
    expect(new Set(own).size).toBe(own.length);
    const common = errorsOf({ ...operation, errors: [] }).map(({ code }) => code);
    expect(common.filter((code) => own.includes(code))).toEqual([]);
  });
});

test('no two operations share a method and a path', () => {
  const routes = operationList.map(
    ({ method, path }) => `${method} ${path.replace(/\{[a-z_]+\}/g, '{}')}`,
  );
  expect(new Set(routes).size).toBe(routes.length);
});

// Spec 4.2 and 4.3, word for word, and the extensions of D-110 and later.
test('no published operation is missing or has moved', () => {
  const management = '/v1/organizations/{organization_id}';
  expect(operationList.map(({ method, path }) => `${method} ${path}`)).toEqual(
    expect.arrayContaining([
      'GET /v1/whoami',
      'GET /v1/me/workspaces',
      'GET /v1/agents',
      'GET /v1/agents/{agent_name}',
      'POST /v1/agents/{agent_name}/runs',
      'GET /v1/usage',
      `GET ${management}/usage`,
      `GET ${management}/budgets`,
      `PUT ${management}/budgets`,
      `GET ${management}/budgets/{budget_id}`,
      `DELETE ${management}/budgets/{budget_id}`,
      'POST /v1/sessions',
      'GET /v1/sessions',
      'GET /v1/sessions/{session_id}',
      'POST /v1/sessions/{session_id}/stop',
      'POST /v1/sessions/{session_id}/resume',
      'POST /v1/sessions/{session_id}/tokens',
      'POST /v1/sessions/{session_id}/runs',
      'GET /v1/sessions/{session_id}/runs',
      'GET /v1/sessions/{session_id}/runs/{run_id}',
      'GET /v1/sessions/{session_id}/runs/{run_id}/events',
      'POST /v1/sessions/{session_id}/runs/{run_id}/cancel',
      'GET /v1/sessions/{session_id}/interactions',
      'POST /v1/sessions/{session_id}/interactions/{interaction_key}/answer',
      'GET /v1/events',
      'GET /v1/runs',
      'GET /v1/runs/{run_id}',
      'GET /v1/interactions',
      'GET /v1/interactions/{interaction_key}',
      'GET /v1/overview',
      'PATCH /v1/sessions/{session_id}',
      'PATCH /v1/sessions/{session_id}/runs/{run_id}',
      'POST /v1/sessions/{session_id}/files',
      'GET /v1/sessions/{session_id}/files',
      'PUT /v1/sessions/{session_id}/files/{file_id}/content',
      'GET /v1/sessions/{session_id}/files/{file_id}/content',
      'DELETE /v1/sessions/{session_id}/files/{file_id}',
      'POST /v1/webhooks',
      'GET /v1/webhooks',
      'GET /v1/webhooks/{webhook_id}',
      'PATCH /v1/webhooks/{webhook_id}',
      'DELETE /v1/webhooks/{webhook_id}',
      'POST /v1/webhooks/{webhook_id}/rotate',
      'POST /v1/webhooks/{webhook_id}/test',
      'GET /v1/webhooks/{webhook_id}/deliveries',
      'GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}',
      'POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
      'POST /v1/webhooks/{webhook_id}/replay',
      'POST /v1/schedules',
      'GET /v1/schedules',
      'GET /v1/schedules/{schedule_id}',
      'PATCH /v1/schedules/{schedule_id}',
      'DELETE /v1/schedules/{schedule_id}',
      'POST /v1/schedules/{schedule_id}/pause',
      'POST /v1/schedules/{schedule_id}/resume',
      'POST /v1/schedules/{schedule_id}/run',
      'GET /v1/schedules/{schedule_id}/fires',
      'GET /v1/schedules/{schedule_id}/preview',
      `GET ${management}/m2m`,
      `GET ${management}/m2m/profiles`,
      `POST ${management}/m2m`,
      `GET ${management}/m2m/{client_id}`,
      `PATCH ${management}/m2m/{client_id}`,
      `POST ${management}/m2m/{client_id}/credentials`,
      `DELETE ${management}/m2m/{client_id}/credentials/{credential_id}`,
      `DELETE ${management}/m2m/{client_id}`,
      'GET /v1/me',
      `GET ${management}`,
      `GET ${management}/members`,
      `GET ${management}/audit`,
      `GET ${management}/audit/status`,
      'GET /v1/system',
      `GET ${management}/tenants`,
      `POST ${management}/tenants`,
      `GET ${management}/tenants/{tenant_id}`,
      `POST ${management}/tenants/{tenant_id}:retry`,
      `POST ${management}/tenants/{tenant_id}:offboard`,
      'POST /v1/oauth/token',
      'GET /.well-known/oauth-authorization-server',
      'GET /.well-known/jwks.json',
      'GET /healthz',
      'GET /readyz',
      'GET /openapi.json',
      'GET /docs',
      'GET /docs/guides/{guide_name}',
      'GET /docs/reference/{page_name}',
      'GET /docs/search',
    ]),
  );
});

const anonymous = [
  'issue_token',
  'read_invitation',
  'sign_up',
  'get_agent_card',
  'receive_callback',
];
const anyCaller = ['list_workspaces', 'get_me', 'get_system', 'accept_invitation'];

// Spec 4.1: selectors everywhere but workspace discovery; 4.3: people only.
test('application operations are for automation clients, management for people', () => {
  for (const { id, path, caller } of operationList) {
    if (anyCaller.includes(id)) expect(caller).toBe('any');
    else if (anonymous.includes(id)) {
      expect(caller).toBe('anonymous');
    } else if (path.startsWith('/v1/organizations/')) expect(caller).toBe('human');
    else if (path.startsWith('/v1/')) expect(caller).toBe('automation');
    else expect(caller).toBe('anonymous');
  }
});

test('every declared error code is used by an operation or by the router (D-70)', () => {
  const used = new Set<ErrorCode>(routingErrors);
  for (const operation of operationList) {
    for (const { code } of errorsOf(operation)) used.add(code);
  }
  expect([...used].sort()).toEqual(Object.keys(errors).sort());
});

test('error codes are lower-case words and their statuses are errors', () => {
  for (const [code, { status, message }] of Object.entries(errors)) {
    expect(code).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(status >= 400 && status <= 599).toBe(true);
    expect(message).toMatch(/^[A-Za-z].*\.$/);
  }
});

test('a terminal session is 412 on an idempotent create and 409 elsewhere (D-12)', () => {
  expect(statusOfError(operations.create_session, 'session_terminal')).toBe(412);
  expect(statusOfError(operations.start_run, 'session_terminal')).toBe(409);
  expect(statusesOf(operations.create_session)).toEqual([
    200, 201, 400, 401, 403, 404, 409, 412, 413, 415, 429, 500, 503,
  ]);
});

test('reading is not rate-limited for people, every call is for automation clients (D-68)', () => {
  expect(statusesOf(operations.list_tenants)).not.toContain(429);
  expect(statusesOf(operations.create_tenant)).toContain(429);
  expect(statusesOf(operations.get_run)).toContain(429);
});
