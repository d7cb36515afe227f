import { tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { isEnabledFor } from '../../src/domain/agent.ts';
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
