import { describe, expect, test } from 'vitest';
import { answerInteraction, markLiveAnswers } from '../../src/app/interactions.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { createRunFixture, delta } from '../support/run-fixture.ts';

describe.each(databaseKinds)('on %s', (kind) => {
  test('events of a worker and answers of people at the same moment all get a place in the log', async () => {
    // SQLite has one writer, so nothing can happen at the same moment there.
    const rounds = kind === 'sqlite' ? 3 : 60;
    const world = await createRunFixture(kind);
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    const append = (text: string) => world.record(leg, { items: [delta(text)] });
    for (let round = 0; round < rounds; round += 1) {
      const ref = `question-${round}`;
      await world.record(leg, { items: [{ type: 'user_question', ref, question: 'Why?' }] });
      const asked = await world.store.read.interactions.findByRequest(run.id, ref);
      if (asked === undefined) throw new Error('no question was asked');
      const answer = answerInteraction(world, world.scope, {
        sessionId: run.sessionId,
        key: asked.key,
        body: { answer: ref },
        by,
        allower,
      });
      const [, ...places] = await Promise.all([answer, append(`a${round}`), append(`b${round}`)]);
      // A worker that gets no sequence number has lost its lease, which this one has not.
      expect(places).not.toContain(undefined);
      await markLiveAnswers(world, leg.holder);
    }
    const log = await world.logOf(run.id);
    expect((await world.read(run)).lastSeq).toBe(log.length);
    const answers = log.filter(({ type }) => type === 'user_answered');
    expect(answers.map(({ data }) => data['answer'])).toEqual(
      Array.from({ length: rounds }, (_, round) => `question-${round}`),
    );
    expect(log.filter(({ type }) => type === 'message_delta')).toHaveLength(2 * rounds);
  });
});
