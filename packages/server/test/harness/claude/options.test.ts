import { expect, test } from 'vitest';
import { type QueryParts, queryOptions } from '../../../src/harness/claude/options.ts';

/** Of an agent with what the options depend on. */
function optionsOf(asksUser = true) {
  const agent = { skills: 'none', enableClaudeMd: false };
  const parts = { context: { agent }, settings: { asksUser, instructions: '' } };
  return queryOptions({ permissionHook: {}, ...parts } as unknown as QueryParts);
}

test('Claude gets no tool that promises a wake-up: nothing would keep the promise (D-914)', () => {
  const toolsOf = (asksUser: boolean) => optionsOf(asksUser)['disallowedTools'];
  const wakeUps = ['ScheduleWakeup', 'CronCreate', 'CronList', 'CronDelete'];
  expect(toolsOf(true)).toEqual(wakeUps);
  expect(toolsOf(false)).toEqual([...wakeUps, 'AskUserQuestion']);
});

// `npm run test:agents` tries hooks, skills and helpers with the real Claude.
test('Claude runs no command that files of the session folder name, beside its tools (D-1040)', () => {
  const { settings, managedSettings } = optionsOf();
  expect(managedSettings).toEqual({ allowManagedHooksOnly: true });
  expect(settings).toMatchObject({ disableAllHooks: false, disableSkillShellExecution: true });
  for (const helper of ['apiKeyHelper', 'awsAuthRefresh', 'gcpAuthRefresh', 'otelHeadersHelper']) {
    expect(settings).toHaveProperty(helper, '');
  }
});
