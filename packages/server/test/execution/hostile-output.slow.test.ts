import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ended, logOf, openSession, startRun } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import {
  type HostileText,
  hostileTexts,
  textsOfCalls,
  textsOfEvents,
} from '../support/hostile-texts.ts';
import type { PuppetLeg } from '../support/puppet-harness.ts';
import { type PuppetServer, startPuppetServer } from '../support/puppet-server.ts';

/** Rejections that nothing handles: in a process of its own, each of them would have ended the server. */
const unhandled: unknown[] = [];
const keep = (error: unknown) => unhandled.push(error);
process.on('unhandledRejection', keep);
afterAll(() => void process.off('unhandledRejection', keep));

/** Texts that become columns of the database, and are shown as they are. */
const mustBePlain = /(\.|^)(ref|toolName|name)$/;
const hasToBeShort = /(\.|^)(ref|toolName|name|question|label|description)$/;

function isRefused(field: string, text: HostileText): boolean {
  if (text === '1 MiB') return hasToBeShort.test(field);
  return text !== 'U+2028' && mustBePlain.test(field);
}

/** The name of the field in messages: as agents that are programs know it. */
function nameOf(field: string): string {
  if (field.startsWith('wait')) return field;
  const name = field.split('.').at(-1) ?? '';
  if (field.startsWith('begin') || field.startsWith('end.ref')) {
    return name === 'ref' ? 'call_id' : 'tool_name';
  }
  return { toolName: 'tool_name', name: 'name of an event' }[name] ?? name;
}

describe.each(databaseKinds)('on %s', (database) => {
  let world: PuppetServer;
  beforeAll(async () => {
    world = await startPuppetServer({ database, afterLoss: 'repeat' });
  });

  /** Plays a run for each text, one after the other in a session, and a harmless one behind them. */
  const play = async (field: string, act: (leg: PuppetLeg, text: string) => Promise<void>) => {
    const { server, puppet } = world;
    const session = await openSession(server, 'puppet');
    for (const [name, text] of Object.entries(hostileTexts)) {
      const run = await startRun(server, session, 'go');
      const leg = await puppet.leg();
      leg.say('before ');
      leg.point();
      await act(leg, text);
      leg.end();
      const seen = await ended(server, run);
      if (isRefused(field, name as HostileText)) {
        expect(seen, `${field}: ${name}`).toMatchObject({
          status: 'failed',
          error_code: 'agent_error',
          output_text: 'before ',
        });
        expect(seen.error_message).toContain(nameOf(field));
      } else {
        expect(seen.error_code, `${field}: ${name}`).not.toBe('internal_error');
        expect(seen.error_message ?? '', `${field}: ${name}`).not.toContain('cannot be recorded');
      }
      expect((await logOf(server, run)).at(-1)?.type).toMatch(/^(run_completed|error)$/);
    }
    const next = await startRun(server, session, 'next');
    (await puppet.leg()).end();
    return { next: await ended(server, next), unhandled };
  };
  const fine = { next: { status: 'completed' }, unhandled: [] };

  test.each(textsOfEvents)(
    'no text in %s ends more than its leg, and the next run works',
    async (field, make) => {
      const after = await play(field, async (leg, text) => leg.emit(make(text)));
      expect(after).toMatchObject(fine);
    },
  );

  test.each(textsOfCalls)(
    'no text in %s of a tool call ends more than its leg, and no refused call starts',
    async (field, make) => {
      const after = await play(field, async (leg, text) => {
        const { begin: intent, end } = make(text);
        const name = Object.entries(hostileTexts).find(([, each]) => each === text)?.[0];
        const isBad = field.startsWith('begin') && isRefused(field, name as HostileText);
        const kind = isBad ? 'left' : 'begun';
        expect(await leg.context.effects.begin(intent)).toEqual({ kind });
        await leg.context.effects.end(end.ref, end.result);
      });
      expect(after).toMatchObject(fine);
    },
  );
});
