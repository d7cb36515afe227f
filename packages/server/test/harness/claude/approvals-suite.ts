import { expect, test } from 'vitest';
import type { Agent } from '../../../src/domain/agent.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { type Sitting, allowing, denying } from '../sittings.ts';
import { promptOf, writeInput } from './plans.ts';

export interface ClaudeSession {
  readonly sitting: Sitting;
  /** The content of a file of the session folder. */
  readonly made: (file: string) => Promise<string | undefined>;
}

/** Approvals that only Claude has: several calls in one message, and an input that a person changed. */
export function claudeApprovalsSuite(
  sit: (parts: Partial<Agent>, settings?: JsonObject) => Promise<ClaudeSession>,
): void {
  test('asks about several calls of one message one by one, and makes each that was allowed', async () => {
    const calls = ['a', 'b', 'c']
      .map((file) => `call Write ${JSON.stringify(writeInput(`${file}.txt`, file))}`)
      .join(' && ');
    const { sitting, made } = await sit({ approvalRequiredTools: ['Write'] });
    const said = await sitting.say(promptOf(`${calls} ;; say done`), (asked) =>
      JSON.stringify(asked).includes('b.txt') ? denying : allowing(asked),
    );
    expect(said.asked).toHaveLength(3);
    expect(said.text).toContain('done');
    expect(await Promise.all(['a.txt', 'b.txt', 'c.txt'].map(made))).toEqual(['a', undefined, 'c']);
  });

  test('makes exactly the call that a person changed (D-39)', async () => {
    const { sitting, made } = await sit({ approvalRequiredTools: ['Write'] });
    const call = `call Write ${JSON.stringify(writeInput('a.txt', 'asked'))}`;
    const first = await sitting.say(promptOf(`${call} ;; last`));
    const [asked] = first.asked;
    if (asked?.type !== 'permission_request') throw new Error('it asks');
    const input = writeInput('b.txt', 'changed');
    const answer = { kind: 'permission', allow: true, input } as const;
    await sitting.hear(sitting.start('', new Map([[asked.ref, answer]])));
    expect([await made('a.txt'), await made('b.txt')]).toEqual([undefined, 'changed']);
  });

  test('may not use a tool that is not in its list', async () => {
    const { sitting, made } = await sit({}, { tools: ['Read'] });
    const call = `call Write ${JSON.stringify(writeInput('a.txt', 'a'))}`;
    const said = await sitting.say(promptOf(`${call} ;; last`));
    expect(said.text).toContain("not among the agent's tools");
    expect(await made('a.txt')).toBeUndefined();
  });
}
