import { type Scope, clientId, organizationId, tenantId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { decideAccess } from '../../src/domain/access.ts';

const ids = { client: clientId('cli_1'), organization: organizationId('org_1') };

function scopesOf(client: readonly Scope[], token: readonly Scope[]): readonly Scope[] {
  const ruling = decideAccess(
    {
      client: {
        id: ids.client,
        organizationId: ids.organization,
        oauthClientId: 'oauth-1',
        profile: 'invoke',
        scopes: client,
        tenantIds: null,
        status: 'active',
        notBefore: 0,
      },
      tenant: { id: tenantId('ten_1'), status: 'active', attachmentState: 'ready' },
    },
    {
      organizationId: ids.organization,
      tokenScopes: new Set(token),
      tokenIssuedAt: 1,
      required: [],
    },
  );
  return ruling.ok ? Array.from(ruling.value.scopes).toSorted() : [];
}

const [read, write] = ['sessions:read', 'sessions:write'] as const satisfies readonly Scope[];

test('a caller has the scopes that both its token and its client have now (D-54)', () => {
  expect(scopesOf([read, write], [read, write])).toEqual([read, write]);
  expect(scopesOf([read, write], [read])).toEqual([read]);
  expect(scopesOf([read], [read, write])).toEqual([read]);
  expect(scopesOf([], [read])).toEqual([]);
});

test('a scope that a client has twice stands for no other', () => {
  expect(scopesOf([read, read], [read, write])).toEqual([read]);
});
