import { type RestartCheck, restartCheck } from '../check.ts';
import { NotExercised, ensure, excerpt, same } from '../failure.ts';
import { at, fill, textAt, timeAt } from '../fields.ts';
import type { FinishedRun, Kit } from '../kit.ts';
import { newKey } from '../owner.ts';
import { hasStatus } from '../server.ts';
import { type RunAt, dataOf, isTerminal, sessionPath, typeOf } from '../steps.ts';
import { hasBytes, sessionWithFiles, storedFile } from './files.ts';

async function waitingRun(kit: Kit): Promise<RunAt> {
  const run = await kit.begin('ask');
  await kit.steps.until(run, 'user_question');
  return run;
}

/** The whole of the run whose server was restarted; not exercised if it was over before that. */
export async function expectSurvived(
  kit: Kit,
  run: RunAt,
  startedAt: number,
): Promise<FinishedRun> {
  const frames = await kit.steps.follow(run);
  const end = frames.at(-1);
  ensure(end !== undefined && isTerminal(end), 'the run has no terminal event');
  if (timeAt(end.data, 'created_at') < startedAt) {
    throw new NotExercised('the run had ended before the restart');
  }
  return { at: run, frames, run: await kit.steps.run(run) };
}

export const restartChecks: readonly RestartCheck[] = [
  restartCheck('6-history', 'ended runs are replayed byte for byte', async (kit) => {
    const before = await kit.allSeen();
    return async (after) => {
      for (const { at: run, frames } of before) {
        const again = await after.steps.follow(run);
        same(
          again.map(({ raw }) => raw),
          frames.map(({ raw }) => raw),
          'the frames',
        );
      }
    };
  }),
  restartCheck('6-cursor', 'a reader resumes after the last event of before', async (kit) => {
    const { at: run, frames } = await kit.seen('echo');
    return async (after) => {
      const rest = await after.steps.follow(run, isTerminal, frames[0]?.id ?? '');
      same(
        rest.map(({ id }) => id),
        frames.slice(1).map(({ id }) => id),
        'the ids after the first',
      );
    };
  }),
  restartCheck('4.2-keys-kept', 'keys of before refer to the same resources', async (kit) => {
    const opening = { agent_name: kit.agentNames.echo, idempotency_key: newKey() };
    const open = async () =>
      textAt(hasStatus(await kit.app.post('/v1/sessions', opening), 200, 201).body, 'id');
    const session = await open();
    const starting = { input: kit.steps.input('Hello'), idempotency_key: newKey() };
    const runs = sessionPath(session, '/runs');
    const start = async () =>
      textAt(hasStatus(await kit.app.post(runs, starting), 200, 201, 202).body, 'id');
    const run = await start();
    return async () => {
      same(await open(), session, 'the session');
      same(await start(), run, 'the run');
      const other = { ...starting, input: kit.steps.input('Bye') };
      hasStatus(await kit.app.post(runs, other), 409);
    };
  }),
  restartCheck('4.2-interactions-kept', 'a question of before is answered after', async (kit) => {
    const run = await waitingRun(kit);
    const key = await kit.steps.pendingKey(run.sessionId);
    return async (after) => {
      same(await after.steps.pendingKey(run.sessionId), key, 'the pending key');
      const body = fill(kit.dialect.interaction.answer, { answer: 'later' });
      const reply = await after.steps.answer(run.sessionId, key, body);
      hasStatus(reply, 200, 201, 202, 204);
      const frames = await after.steps.follow(run);
      same(frames.map(typeOf).at(-1), 'run_completed', 'the last event');
    };
  }),
  restartCheck('6-r6-replayed', 'a question is announced again only as replayed', async (kit) => {
    const run = await waitingRun(kit);
    return async (after) => {
      const key = await after.steps.pendingKey(run.sessionId);
      const body = fill(kit.dialect.interaction.answer, { answer: 'later' });
      hasStatus(await after.steps.answer(run.sessionId, key, body), 200, 201, 202, 204);
      const frames = await after.steps.follow(run);
      const raised = frames.filter((frame) => typeOf(frame) === 'user_question').map(dataOf);
      const again = raised.slice(1).filter((data) => data['replayed'] !== true);
      same(again, [], 'announcements that are not marked as replayed');
    };
  }),
  restartCheck('4.2-files-kept', 'a file of before has the same bytes', async (kit) => {
    const file = await storedFile(kit, await sessionWithFiles(kit));
    return async () => await hasBytes(kit, file);
  }),
  {
    ...restartCheck('3-run-recovered', 'a run that executed ends with recovered', async (kit) => {
      const run = await kit.begin('slow');
      await kit.steps.until(run, 'message_delta');
      return async (after, { startedAt }) => {
        const { frames, run: record } = await expectSurvived(after, run, startedAt);
        const end = dataOf(frames.at(-1));
        same(end['recovered'], true, 'recovered of the terminal event');
        ensure(typeof at(record, 'status') === 'string', `no status in ${excerpt(record)}`);
      };
    }),
    isLate: true,
  },
];
