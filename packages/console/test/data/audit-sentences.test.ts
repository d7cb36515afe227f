import { expect, test } from 'vitest';
import type { AuditAction } from '../../../server/src/domain/audit.ts';
import { auditActionName as actionName, auditSentence } from '@convoke/sdk';
import { idOfName, shownSentence } from '../../src/data/audit-sentences.ts';

/** A new action of the server does not compile until it stands here, and fails until it has words. */
const actions: Readonly<Record<AuditAction, true>> = {
  'access.deny': true,
  'audit.seal': true,
  'budget.create': true,
  'budget.delete': true,
  'budget.update': true,
  'call.allow': true,
  'call.deny': true,
  'client.create': true,
  'client.delete': true,
  'client.disable': true,
  'client.enable': true,
  'client.update': true,
  'connection.delete': true,
  'connection.connect': true,
  'connection.expire': true,
  'connection.put': true,
  'credential.add': true,
  'credential.revoke': true,
  'interaction.answer': true,
  'interaction.approve': true,
  'interaction.forget': true,
  'invitation.accept': true,
  'invitation.create': true,
  'invitation.revoke': true,
  'keys.revoke': true,
  'keys.rotate': true,
  'member.add': true,
  'member.link': true,
  'member.name': true,
  'member.password': true,
  'member.remove': true,
  'member.role': true,
  'member.sign_in': true,
  'member.sign_out': true,
  'organization.create': true,
  'rules.update': true,
  'run.signal': true,
  'schedule.create': true,
  'schedule.delete': true,
  'schedule.pause': true,
  'schedule.resume': true,
  'schedule.run': true,
  'schedule.update': true,
  'session_token.issue': true,
  'tenant.create': true,
  'tenant.offboard': true,
  'tenant.retry': true,
  'token.exchange': true,
  'token.issue': true,
  'webhook.create': true,
  'webhook.delete': true,
  'webhook.disable': true,
  'webhook.replay': true,
  'webhook.rotate': true,
  'webhook.update': true,
};

const row = {
  seq: 1,
  at: '2026-11-16T09:00:00.000Z',
  actor: { kind: 'user', id: 'usr_1', name: 'Ann Miller' },
  object: 'obj_1',
  outcome: 'done',
  details: {},
  hash: '',
} as const;

test.each(Object.keys(actions))('%s reads as words', (action) => {
  const sentence = auditSentence({ ...row, action });
  expect(sentence).toMatch(/^Ann Miller [a-z -]+( obj_1)?$/);
  expect(sentence).not.toContain(action);
  expect(actionName(action)).toMatch(/^[A-Z][a-z -]+$/);
});

test.each([
  [
    'interaction.answer',
    { decision: 'allow', tool_name: 'write_file', run_id: 'run_1' },
    'allowed write_file in run_1',
  ],
  ['interaction.answer', { decision: 'deny', tool_name: 'pay' }, 'denied pay'],
  [
    'call.deny',
    { tool_name: 'pay', run_id: 'run_1', by: 'rule', rules: [{ source: 'agent', name: 'no-pay' }] },
    'denied pay in run_1 by the rule no-pay',
  ],
  [
    'call.deny',
    { tool_name: 'pay', by: 'expiry', rules: [] },
    'denied pay, because no answer came in time',
  ],
  ['call.allow', { tool_name: 'pay', by: 'memory' }, 'allowed pay, as allowed before'],
  ['interaction.answer', { kind: 'question', run_id: 'run_1' }, 'answered a question in run_1'],
  ['interaction.approve', { tool_name: 'pay', run_id: 'run_1' }, 'approved pay in run_1'],
  ['connection.put', { service: 'github' }, 'connected the account for github'],
  ['client.update', { name: 'Nightly reports' }, 'changed client Nightly reports'],
  ['tenant.create', { display_name: 'Europe' }, 'created tenant Europe'],
  ['member.add', { email: 'bob@acme.test', role: 'viewer' }, 'added member bob@acme.test'],
  [
    'invitation.create',
    { email: 'bob@acme.test', role: 'viewer' },
    'invited bob@acme.test as viewer',
  ],
  [
    'member.role',
    { email: 'bob@acme.test', role: 'viewer', previous_role: 'operator' },
    'changed the role of bob@acme.test to viewer',
  ],
  [
    'invitation.accept',
    { email: 'bob@acme.test', role: 'viewer' },
    'accepted an invitation as viewer',
  ],
  ['invitation.create', { role: 'viewer' }, 'invited anyone with the link as viewer'],
  ['budget.update', { scope_kind: 'agent', scope_id: 'echo' }, 'changed budget for agent echo'],
  ['member.name', { name: 'Ann Smith', previous_name: null }, 'changed their name'],
  ['moon.land', {}, 'moon.land obj_1'],
])('%s with %j says what it was about', (action, details, words) => {
  expect(auditSentence({ ...row, action, details })).toBe(`Ann Miller ${words}`);
});

test('an object is called by the name that the page knows, else by its short id', () => {
  const created = { ...row, action: 'tenant.create', object: 'ten_01m7pxg6b9e00admcc79r3np41' };
  expect(shownSentence(created, () => 'Europe')).toBe('Ann Miller created tenant Europe');
  expect(shownSentence(created, () => undefined)).toBe('Ann Miller created tenant ten_01m7…np41');
  const details = { scope_kind: 'tenant', scope_id: 'ten_01m7pxg6b9e00admcc79r3np41' };
  const budget = { ...row, action: 'budget.create', details };
  expect(shownSentence(budget, () => 'Europe')).toBe('Ann Miller created budget for tenant Europe');
});

test('what the server did itself is said of the server', () => {
  const actor = { kind: 'system', id: '' } as const;
  const sentence = auditSentence({ ...row, actor, action: 'keys.rotate' });
  expect(sentence).toBe('The server rotated the signing key');
});

test('what came by a callback URL is not said of the server', () => {
  const actor = { kind: 'anonymous', id: '' } as const;
  const details = { signal: 'paid', callback: true };
  const sentence = auditSentence({ ...row, actor, action: 'run.signal', object: 'run_1', details });
  expect(sentence).toBe('A caller without a login sent a message to run run_1');
});

test.each([
  ['Acme', 'ten_1'],
  ['  nightly DEPLOYS ', 'cli_2'],
  ['ten_1', 'ten_1'],
  [' sess_of_nobody ', 'sess_of_nobody'],
  ['Acm', 'Acm'],
  ['', ''],
])('"%s" filters by "%s"', (typed, id) => {
  const names = new Map([
    ['ten_1', 'Acme'],
    ['cli_2', 'Nightly deploys'],
  ]);
  expect(idOfName(names, typed)).toBe(id);
});
