import { describe, expect, test } from 'vitest';
import { allowing } from '../sittings.ts';
import { steps, useAcpAgent } from './use-acp-agent.ts';

const { sit } = useAcpAgent();

describe('an ACP agent whose server died', () => {
  test('goes on in its own session, and is told what it had done (D-85)', async () => {
    const { sitting, harness, made } = await sit({});
    const task = steps({ say: 'Working. ' }, { call: 'paid.txt' }, { hang: 'listening' });
    const leg = sitting.start(task);
    await sitting.hear(leg, {
      onEvent: (event) =>
        event.type === 'custom' && event.data['status'] === 'completed' && leg.kill(),
    });
    expect(await made('paid.txt')).toBeDefined();
    const restarted = sitting.movedTo(harness());
    const { text, end } = await restarted.hear(restarted.goOn(steps({ say: 'Done.' })));
    expect(text).toMatch(/were carried out\. Do not carry them out again:\n- .*paid\.txt/);
    expect(text.endsWith(`The task was:\n${steps({ say: 'Done.' })}Done.`)).toBe(true);
    expect(text).not.toContain('It is not known');
    expect(end).toMatchObject({ outcome: 'completed' });
    const next = await restarted.say(steps({ report: 'history' }));
    expect(next.text).toContain('Working. ');
  });

  test('is asked under a new name, so that an earlier approval counts once (D-39)', async () => {
    const { sitting, harness } = await sit({ agent: { approvalRequiredTools: ['*'] } });
    const leg = sitting.start(steps({ call: 'a.txt' }, { hang: 'listening' }));
    const first = await sitting.hear(leg, {
      onAsked: allowing,
      onEvent: (event) =>
        event.type === 'custom' && event.data['status'] === 'completed' && leg.kill(),
    });
    const restarted = sitting.movedTo(harness());
    const again = restarted.goOn(steps({ call: 'b.txt' }));
    const second = await restarted.hear(again, { onAsked: allowing });
    expect(first.asked.map(({ ref }) => ref)).toEqual(['permission-1']);
    expect(second.asked.map(({ ref }) => ref)).toEqual(['permission-2']);
  });

  test('ends its run when the agent no longer has the session', async () => {
    const { sitting, harness } = await sit({ flags: ['--forgetful'] });
    const leg = sitting.start(steps({ say: 'one' }, { hang: 'listening' }));
    await sitting.hear(leg, { onEvent: ({ type }) => type === 'message_delta' && leg.kill() });
    const restarted = sitting.movedTo(harness());
    const { end, text } = await restarted.hear(restarted.goOn());
    expect(end).toMatchObject({
      outcome: 'error',
      message: expect.stringContaining('no longer has its session'),
    });
    expect(text).toBe('');
  });
});
