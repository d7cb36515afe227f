import type { AgentRule } from '@convoke/contract';
import { expect, test } from 'vitest';
import { readRules } from '../../src/domain/rules/rule.ts';
import type { HarnessEvent } from '../../src/ports/harness.ts';

const lists = ['the agent', 'the organization'] as const;

type Effect = AgentRule['effect'];

interface RuleOfList {
  readonly effect: Effect;
  readonly of: (typeof lists)[number];
  /** Whether its condition holds for the file that the agent writes. */
  readonly isMatch: boolean;
  /** Of the same rule in the other list; absent: it has none. */
  readonly other: Effect | undefined;
  readonly isObserved: boolean;
}

interface Played {
  readonly kinds: readonly string[];
  readonly end: HarnessEvent | undefined;
  readonly isWritten: boolean;
}

/** `listed`: the agent names the tool in `approval_required_tools`, too. */
type Play = (scenario: RuleOfList & { readonly listed: boolean }) => Promise<Played>;

/** Every effect in each list and in both. The agent writes `notes/note.txt`, and a person who is asked allows it. */
export function ruleScenarios(play: Play): void {
  const plain = { isMatch: true, listed: false, other: undefined, isObserved: false };
  const ruled = (effect: Effect, more: Partial<Parameters<Play>[0]> = {}) =>
    play({ effect, of: 'the agent', ...plain, ...more });
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

  test.each<[Effect, Effect, readonly string[], boolean]>([
    ['allow', 'ask', ['permission_request'], true],
    ['ask', 'ask', ['permission_request'], true],
    ['ask', 'deny', [], false],
    ['deny', 'allow', [], false],
    ['deny', 'ask', [], false],
  ])(
    'of both lists: %s of the agent, %s of the organization (D-500)',
    async (...[effect, other, asked, written]) => {
      const { kinds, end, isWritten } = await ruled(effect, { other });
      expect([kinds, isWritten]).toEqual([asked, written]);
      expect(end).toMatchObject(completed);
    },
  );

  test.each(lists)('of %s that only observes its denial (D-525)', async (of) => {
    const { kinds, end, isWritten } = await ruled('deny', { of, isObserved: true });
    expect([kinds, isWritten]).toEqual([[], true]);
    expect(end).toMatchObject(completed);
  });

  test.each(lists)('of %s that does not match', async (of) => {
    const { kinds, isWritten } = await ruled('deny', { of, isMatch: false });
    expect([kinds, isWritten]).toEqual([[], true]);
  });
}

/** What the agent and its organization have then. `path` is the pointer to the path of the file in what rules see. */
export function partsWith(
  { effect, of, isMatch, listed, other, isObserved }: Parameters<Play>[0],
  { tools, path }: { readonly tools: readonly string[]; readonly path: string },
) {
  const when = [{ path, like: isMatch ? '*note.txt*' : 'other' }];
  const observe = isObserved && { observe: true };
  const listWith = (of: Effect | undefined) =>
    of === undefined
      ? []
      : readRules([{ name: 'note', tools: [...tools], effect: of, when, ...observe }]);
  const [agent, organization] = of === 'the agent' ? [effect, other] : [other, effect];
  const approvalRequiredTools = listed ? tools : [];
  return {
    agent: { rules: listWith(agent), approvalRequiredTools },
    organization: listWith(organization),
  };
}
