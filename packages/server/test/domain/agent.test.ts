import { tenantId } from '@convoke/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isEnabledFor, matchesGlob, needsApproval } from '../../src/domain/agent.ts';
import { agentOf } from '../support/agent-folders.ts';

describe('which tenants an agent is for (enabled per tenant)', () => {
  const id = tenantId('ten_1');
  test.each([
    [{ default: 'enabled', allow: [], deny: [] }, true],
    [{ default: 'disabled', allow: [], deny: [] }, false],
    [{ default: 'disabled', allow: ['ten_1'], deny: [] }, true],
    [{ default: 'enabled', allow: [], deny: ['ten_1'] }, false],
    [{ default: 'enabled', allow: ['ten_1'], deny: ['ten_1'] }, false],
    [{ default: 'disabled', allow: ['ten_2'], deny: [] }, false],
    [{ default: 'enabled', allow: [], deny: ['ten_2'] }, true],
  ] as const)('%j → %s', (tenants, isEnabled) => {
    expect(isEnabledFor(agentOf({ tenants }), id)).toBe(isEnabled);
  });
});

describe('a glob', () => {
  test.each([
    ['write_file', 'write_file', true],
    ['write_file', 'write_files', false],
    ['write_*', 'write_file', true],
    ['*', '', true],
    ['*', 'anything', true],
    ['', '', true],
    ['', 'a', false],
    ['*_file', 'read_file', true],
    ['tickets/*', 'tickets/create', true],
    ['tickets/*', 'ticket', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
    ['**', 'x', true],
    ['a.c', 'abc', false],
    ['[ab]', 'a', false],
  ])('%s against %s → %s', (glob, text, isMatch) => {
    expect(matchesGlob(glob, text)).toBe(isMatch);
  });

  test('means what the same pattern means as a regular expression', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '*', '.'), { maxLength: 8 });
    const words = fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 8 });
    fc.assert(
      fc.property(letters, words, (glob, word) => {
        const pattern = glob
          .map((letter) => (letter === '*' ? '.*' : `\\x${hex(letter)}`))
          .join('');
        const text = word.join('');
        expect(matchesGlob(glob.join(''), text)).toBe(new RegExp(`^${pattern}$`, 's').test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('gates a tool when any of the list matches', () => {
    const agent = agentOf({ approvalRequiredTools: ['delete_*', 'write_file'] });
    expect(needsApproval(agent, 'write_file')).toBe(true);
    expect(needsApproval(agent, 'delete_all')).toBe(true);
    expect(needsApproval(agent, 'read_file')).toBe(false);
    expect(needsApproval(agentOf({}), 'write_file')).toBe(false);
  });
});

function hex(letter: string): string {
  return letter.charCodeAt(0).toString(16).padStart(2, '0');
}
