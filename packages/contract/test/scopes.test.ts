import { expect, test } from 'vitest';
import {
  operationList,
  operations,
  operationsOfScope,
  permissionCatalog,
  profiles,
  requiredScopes,
  scopeDescriptions,
  scopes,
  scopesOf,
} from '../src/index.ts';

const all =
  'agents:read sessions:read sessions:write runs:read runs:write feedback:write interactions:read interactions:write files:read files:write schedules:read schedules:write webhooks:read webhooks:write connections:read connections:write usage:read agents:deploy';

test('the scopes are exactly those decided (D-54)', () => {
  expect(scopes.join(' ')).toBe(all);
  expect(Object.keys(scopeDescriptions)).toEqual([...scopes]);
});

test('observe reads everything, invoke also writes, deploy only deploys', () => {
  const ending = (...endings: string[]) =>
    scopes.filter((scope) => endings.some((ending) => scope.endsWith(ending)));
  expect(profiles.observe).toEqual(ending(':read'));
  expect(profiles.invoke).toEqual(ending(':read', ':write'));
  expect(profiles.deploy).toEqual(['agents:read', 'agents:deploy']);
});

test('a custom client has the scopes it lists, and only those', () => {
  expect(scopesOf('custom', ['runs:read'])).toEqual(['runs:read']);
  expect(scopesOf('custom')).toEqual([]);
  expect(scopesOf('observe', ['runs:write'])).toEqual(profiles.observe);
});

test('reading needs read scopes and changing a write scope', () => {
  for (const operation of operationList) {
    // What a call of JSON-RPC changes depends on its method (D-234).
    if ('content' in operation && operation.content === 'json-rpc') continue;
    const needed = requiredScopes(operation);
    const writes = needed.some((scope) => scope.endsWith(':write'));
    expect(writes).toBe(operation.method !== 'GET' && needed.length > 0);
  }
});

test('who decides what a webhook sends, and where, may read the feed', () => {
  const readsFeed = requiredScopes(operations.follow_tenant_events);
  for (const operation of [operations.create_webhook, operations.update_webhook]) {
    expect(requiredScopes(operation)).toEqual(['webhooks:write', ...readsFeed]);
  }
});

test('a one-shot invocation needs both write scopes (D-27)', () => {
  expect(operationsOfScope('sessions:write')).toContain('invoke_agent');
  expect(operationsOfScope('runs:write')).toContain('invoke_agent');
});

test('the catalog lists every profile and every scope with its operations (D-66)', () => {
  const catalog = permissionCatalog();
  expect(catalog.profiles.map(({ name }) => name)).toEqual([
    'observe',
    'invoke',
    'deploy',
    'custom',
  ]);
  expect(catalog.scopes.map(({ name }) => name)).toEqual([...scopes]);
  const opened = new Set(catalog.scopes.flatMap(({ operations }) => operations));
  const scoped = operationList.filter((operation) => requiredScopes(operation).length > 0);
  expect([...opened].sort()).toEqual(scoped.map(({ id }) => id).sort());
});
