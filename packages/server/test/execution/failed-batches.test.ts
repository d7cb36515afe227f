import { beforeAll, describe, expect, test } from 'vitest';
import type { HarnessEvent } from '../../src/ports/harness.ts';
import { begin, ended, logOf, startRun } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { type PuppetServer, startPuppetServer } from '../support/puppet-server.ts';
import { refusal, refusingStore } from '../support/refusing-store.ts';

const word = 'unstorable';
const emitted: Record<string, HarnessEvent> = {
  'an event': { type: 'message_delta', text: word },
  'a question': { type: 'user_question', ref: 'r', question: word },
  'a checkpoint': { type: 'checkpoint', state: word, recovery: true },
  'a report of usage': { type: 'usage', inputTokens: 1, outputTokens: 1, model: word },
  'the end of a leg': { type: 'end', outcome: 'completed', state: word },
};

describe.each(databaseKinds)('on %s', (database) => {
  let world: PuppetServer;
  beforeAll(async () => {
    world = await startPuppetServer({
      database,
      afterLoss: 'repeat',
      wrapStore: refusingStore(word),
      expectsFaults: true,
    });
  });

  const failure = { status: 'failed', error_code: 'internal_error', output_text: 'before ' };

  test.each(Object.entries(emitted))(
    '%s that the database refuses ends its run, with what was recorded before it',
    async (_, event) => {
      const { server, puppet } = world;
      const { session, run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.say('before ');
      leg.point();
      // Its intent is durable, and everything before it.
      await leg.context.effects.begin({ ref: 'c', toolName: 't', input: {}, touches: 'outside' });
      leg.emit(event);
      leg.end();
      expect(await ended(server, run)).toMatchObject(failure);
      const types = (await logOf(server, run)).map(({ type }) => type);
      // It could continue from its recovery point, and would only fail again.
      expect(types).toEqual(['run_started', 'message_delta', 'error']);
      expect(server.errors.map(({ error }) => error)).toContain(refusal);
      const next = await startRun(server, session, 'next');
      (await puppet.leg()).end();
      expect(await ended(server, next)).toMatchObject({ status: 'completed' });
    },
  );

  test('a tool call whose intent the database refuses does not start', async () => {
    const { server, puppet } = world;
    const { run } = await begin(server, 'puppet');
    const { context } = await puppet.leg();
    const call = { ref: 'c', toolName: word, input: {}, touches: 'outside' } as const;
    expect(await context.effects.begin(call)).toEqual({ kind: 'left' });
    expect(await ended(server, run)).toMatchObject({
      status: 'failed',
      error_code: 'internal_error',
    });
  });

  test('a leg that is cut ends its run, if what it emitted cannot be recorded', async () => {
    const cut = await startPuppetServer({
      database,
      afterLoss: 'repeat',
      wrapStore: refusingStore(word),
      expectsFaults: true,
    });
    const { run } = await begin(cut.server, 'puppet');
    const leg = await cut.puppet.leg();
    leg.point();
    leg.say(word);
    await cut.server.stop(0);
    const again = await cut.server.restart();
    expect(await ended(again, run)).toMatchObject({ error_code: 'internal_error' });
  });
});
