import { expect, test } from 'vitest';
import { type QueryParts, queryOptions } from '../../../src/harness/claude/options.ts';

test('Claude gets no tool that promises a wake-up: nothing would keep the promise (D-914)', () => {
  const toolsOf = (asksUser: boolean) => {
    const agent = { skills: 'none', enableClaudeMd: false };
    const parts = { context: { agent }, settings: { asksUser, instructions: '' } };
    // Only what the tools depend on.
    return queryOptions({ permissionHook: {}, ...parts } as unknown as QueryParts)[
      'disallowedTools'
    ];
  };
  const wakeUps = ['ScheduleWakeup', 'CronCreate', 'CronList', 'CronDelete'];
  expect(toolsOf(true)).toEqual(wakeUps);
  expect(toolsOf(false)).toEqual([...wakeUps, 'AskUserQuestion']);
});
