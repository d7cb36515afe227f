import type { AgentRule } from '@convoke/contract';
import { expect, test } from 'vitest';
import { readRules } from '../../src/domain/rules/rule.ts';
import type { HarnessEvent } from '../../src/ports/harness.ts';

const lists = ['the agent', 'the organization'] as const;

interface RuleOfList {
  readonly effect: AgentRule['effect'];
  readonly of: (typeof lists)[number];
  /** Whether its condition holds for the file that the agent writes. */
  readonly isMatch: boolean;
}

interface Played {
  readonly kinds: readonly string[];
  readonly end: HarnessEvent | undefined;
  readonly isWritten: boolean;
}

/** `listed`: the agent names the tool in `approval_required_tools`, too. */
type Play = (scenario: RuleOfList & { readonly listed: boolean }) => Promise<Played>;

/** Every effect in both lists, for an agent that writes `notes/note.txt`; a person who is asked allows it. */
export function ruleScenarios(play: Play): void {
  const ruled = (effect: AgentRule['effect'], more: Partial<Parameters<Play>[0]> = {}) =>
    play({ effect, of: 'the agent', isMatch: true, listed: false, ...more });
  const completed = { outcome: 'completed' };

  test('of the agent that allows it before its other rules have a person asked', async () => {
    const { kinds, end, isWritten } = await ruled('allow', { listed: true });
    expect([kinds, isWritten]).toEqual([[], true]);
    expect(end).toMatchObject(completed);
  });

  test.each([
    ['allows it without a person', false, []],
    ['loosens nothing of the agent', true, ['permission_request']],
  ])('of the organization that %s (D-500)', async (_, listed, expected) => {
    const { kinds, end, isWritten } = await ruled('allow', { of: 'the organization', listed });
    expect([kinds, isWritten]).toEqual([expected, true]);
    expect(end).toMatchObject(completed);
  });

  test.each(lists)('of %s that has a person asked', async (of) => {
    const { kinds, end, isWritten } = await ruled('ask', { of });
    expect([kinds, isWritten]).toEqual([['permission_request'], true]);
    expect(end).toMatchObject(completed);
  });

  test.each(lists)('of %s that denies it, and the run continues', async (of) => {
    const { kinds, end, isWritten } = await ruled('deny', { of });
    expect([kinds, isWritten]).toEqual([[], false]);
    expect(end).toMatchObject(completed);
  });

  test.each(lists)('of %s that does not match', async (of) => {
    const { kinds, isWritten } = await ruled('deny', { of, isMatch: false });
    expect([kinds, isWritten]).toEqual([[], true]);
  });
}

/** What the agent and its organization have then. `path` is the pointer to the path of the file in what rules see. */
export function partsWith(
  { effect, of, isMatch, listed }: Parameters<Play>[0],
  { tools, path }: { readonly tools: readonly string[]; readonly path: string },
) {
  const when = [{ path, like: isMatch ? '*note.txt*' : 'other' }];
  const rules = readRules([{ name: 'note', tools: [...tools], effect, when }]);
  const isOwn = of === 'the agent';
  const approvalRequiredTools = listed ? tools : [];
  return {
    agent: { rules: isOwn ? rules : [], approvalRequiredTools },
    organization: isOwn ? [] : rules,
  };
}
