import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { eventually } from '../../support/eventually.ts';
import { type PuppetLeg, Puppet } from '../../support/puppet-harness.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { TestThread } from './thread.ts';

let server: TestServer;
const puppet = new Puppet();
/** Runs a call only as it was asked for, as `acp` does. */
const rigid = Object.assign(new Puppet(), { framework: 'rigid', hasFixedToolInput: true });
beforeAll(async () => {
  server = await startServer({
    harnesses: [puppet, rigid],
    agents: {
      ...usualAgents,
      puppet: puppet.agent(),
      rigid: { ...rigid.agent(), framework: 'rigid' },
    },
  });
});

/** A thread whose agent is at the test's command. */
async function begun(agent: 'puppet' | 'rigid' = 'puppet') {
  const thread = new TestThread(server, `agents/${agent}`);
  const said = thread.say('go');
  const leg = await (agent === 'puppet' ? puppet : rigid).leg();
  return { thread, said, leg };
}

const ask = (leg: PuppetLeg, ...refs: string[]) =>
  leg.emit(
    ...refs.map((ref) => ({
      type: 'permission_request' as const,
      ref,
      toolCallId: ref,
      toolName: `write_${ref}`,
      toolInput: { ref },
    })),
  );

const keysOf = ({ pendingInterrupts }: TestThread) => pendingInterrupts.map(({ id }) => id);

describe('several requests at once', () => {
  test('are one interrupt each, and are answered together', async () => {
    const { thread, said, leg } = await begun();
    ask(leg, 'a', 'b');
    leg.emit({ type: 'user_question', ref: 'q', question: 'Which?' });
    leg.end('waiting');
    await said;
    expect(thread.calls.map(({ function: { name } }) => name)).toEqual([
      'write_a',
      'write_b',
      'ask_user',
    ]);
    const answers = [{ approved: true }, { approved: false }, { answer: 'red' }];
    const answered = thread.answer(() => answers.shift() ?? {});
    const next = await puppet.leg();
    const { input } = next;
    expect(input.kind === 'resume' && Object.fromEntries(input.answers)).toMatchObject({
      a: { allow: true },
      b: { allow: false },
      q: { values: ['red'] },
    });
    next.say('done');
    next.end();
    await answered;
    expect([thread.outcome, thread.text]).toEqual(['success', 'done']);
    expect(thread.results.map(({ metadata }) => metadata)).toEqual([
      { convoke: { outcome: 'unknown' } },
      { convoke: { outcome: 'denied' } },
      undefined,
    ]);
  });

  test('all need an answer: without one nothing is answered (D-213)', async () => {
    const { thread, said, leg } = await begun();
    ask(leg, 'a', 'b');
    leg.end('waiting');
    await said;
    const [first = '', second = ''] = keysOf(thread);
    const known = thread.pendingInterrupts;
    for (const interruptId of [first, second]) {
      thread.pendingInterrupts = [];
      const resume = [{ interruptId, status: 'resolved' as const, payload: { approved: true } }];
      await thread.runAgent({ resume });
      expect(thread.failed).toMatchObject({
        code: 'invalid_answer',
        message: expect.stringContaining(interruptId === first ? second : first),
      });
    }
    thread.pendingInterrupts = known;
    const answered = thread.answer(() => 'cancelled');
    (await puppet.leg()).end();
    await answered;
    expect(thread.outcome).toBe('success');
  });

  test('one that the client has not seen yet ends the next response', async () => {
    const { thread, said, leg } = await begun();
    leg.isLive = true;
    ask(leg, 'a');
    await said;
    expect(keysOf(thread)).toHaveLength(1);
    ask(leg, 'b');
    const other = new TestThread(server, 'agents/puppet', { threadId: thread.threadId });
    await eventually(async () => {
      await other.connectAgent();
      return keysOf(other).length === 2;
    });
    await thread.answer(() => ({ approved: true }));
    expect([thread.failed, thread.outcome]).toEqual([undefined, 'interrupt']);
    expect(keysOf(thread)).toEqual(keysOf(other).slice(1));
    const answered = thread.answer(() => ({ approved: true }));
    await eventually(() => leg.answers.size === 2);
    leg.say('both');
    leg.end();
    await answered;
    expect(thread.text).toBe('both');
  });
});

test('a framework that runs calls only as they were asked for offers no edits (D-212)', async () => {
  const { thread, said, leg } = await begun('rigid');
  ask(leg, 'a');
  leg.end('waiting');
  await said;
  const [interrupt] = thread.pendingInterrupts;
  expect(Object.keys(interrupt?.responseSchema?.['properties'] ?? {})).toEqual([
    'approved',
    'message',
  ]);
  await thread.answer(() => ({ approved: true, editedArgs: {} }));
  expect(thread.failed?.code).toBe('invalid_answer');
});

test('other events are CUSTOM, and thoughts are reasoning', async () => {
  const { thread, said, leg } = await begun();
  leg.emit({ type: 'custom', name: 'thought', data: { text: 'hm' } });
  leg.emit({ type: 'custom', name: 'weather', data: { is: 'fair' } });
  leg.say('yes');
  leg.end();
  await said;
  expect(thread.messages.slice(1)).toMatchObject([
    { role: 'reasoning', content: 'hm' },
    { role: 'assistant', content: 'yes' },
  ]);
  const value = { type: 'puppet.weather', data: { is: 'fair' } };
  expect(thread.custom).toContainEqual({ name: 'convoke.event', value });
});
