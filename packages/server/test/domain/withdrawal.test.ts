import { clientId, credentialId, organizationId, scopesOf } from '@convoke/contract';
import { expect, test } from 'vitest';
import { type Client, changeClient, deleteClient, openClient } from '../../src/domain/client.ts';
import {
  openWithdrawal,
  restoredBy,
  stepPostponed,
  stepTaken,
  withdrawnBy,
} from '../../src/domain/withdrawal.ts';

const client = openClient(
  {
    id: clientId('cli_1'),
    organizationId: organizationId('org_1'),
    oauthClientId: 'oac_1',
    name: 'Backend',
    createdBy: 'usr_1',
    permissions: { profile: 'invoke' },
  },
  1,
);
const changed = (from: Client, change: object): Client => {
  const ruling = changeClient(from, { version: from.version, ...change }, 2);
  if (!ruling.ok) throw new Error(ruling.code);
  return ruling.value;
};
const fresh = {
  id: 'wdr_1',
  organizationId: organizationId('org_1'),
  clientId: clientId('cli_1'),
  credentialId: null,
};

test('only what takes something away is a withdrawal (spec §5.7)', () => {
  const disabled = changed(client, { status: 'disabled' });
  const observing = changed(client, { permissions: { profile: 'observe' } });
  const withdrawals: [Client, Client, string | undefined][] = [
    [client, changed(client, { name: 'x' }), undefined],
    [client, changed(client, { permissions: { profile: 'invoke' } }), undefined],
    [observing, changed(observing, { permissions: { profile: 'invoke' } }), undefined],
    [disabled, changed(disabled, { status: 'active' }), undefined],
    [disabled, changed(disabled, { status: 'disabled' }), undefined],
    [client, disabled, 'disable_client'],
    [client, observing, 'change_permissions'],
    [client, changed(client, { permissions: { profile: 'deploy' } }), 'change_permissions'],
    [disabled, changed(disabled, { permissions: { profile: 'observe' } }), 'change_permissions'],
    [client, deleteClient(client, 2), 'delete_client'],
    [disabled, deleteClient(disabled, 2), 'delete_client'],
  ];
  for (const [seen, next, kind] of withdrawals) expect(withdrawnBy(seen, next)).toBe(kind);
});

test('what is given back calls the withdrawal of it off', () => {
  const disabled = changed(client, { status: 'disabled' });
  const observing = changed(client, { permissions: { profile: 'observe' } });
  expect(restoredBy(disabled, changed(disabled, { status: 'active' }))).toBe('disable_client');
  const widened = changed(observing, { permissions: { profile: 'invoke' } });
  expect(restoredBy(observing, widened)).toBe('change_permissions');
  expect(restoredBy(client, changed(client, { name: 'x' }))).toBeUndefined();
  expect(restoredBy(client, disabled)).toBeUndefined();
  expect(widened.scopes).toEqual(scopesOf('invoke'));
});

test('a withdrawal wakes the streams first, then cleans up, and ends', () => {
  const first = openWithdrawal({ ...fresh, kind: 'disable_client' }, 1_000);
  expect(first).toMatchObject({ step: 'streams', attempts: 0, requestedAt: 1_000 });
  const second = stepTaken({ ...first, attempts: 3 });
  expect(second).toMatchObject({ step: 'provider', attempts: 0 });
  expect(second && stepTaken(second)).toBeUndefined();
});

test('a revoked credential ends the streams that its tokens opened', () => {
  const revoked = { ...fresh, kind: 'revoke_credential', credentialId: credentialId('c') } as const;
  expect(openWithdrawal(revoked, 1)).toMatchObject({ step: 'streams' });
});

test('a step that failed is tried again later and later, at most a minute later', () => {
  let withdrawal = openWithdrawal({ ...fresh, kind: 'delete_client' }, 0);
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 9; attempt += 1) {
    withdrawal = stepPostponed(withdrawal, 0);
    pauses.push(withdrawal.nextAttemptAt / 1000);
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect(withdrawal.attempts).toBe(9);
});
