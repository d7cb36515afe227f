import { type Check, check } from '../check.ts';
import { ensure, excerpt, same } from '../failure.ts';
import { at, fill, listAt, textAt } from '../fields.ts';
import { newKey } from '../owner.ts';
import { hasStatus } from '../server.ts';
import { isTerminal, runPath, sessionPath, typeOf } from '../steps.ts';

export const runChecks: readonly Check[] = [
  check('4.2-start-run', 'a run is started with an input and has an id', async (kit) => {
    const id = await kit.openSession('echo');
    const body = { input: kit.steps.input('Hello'), idempotency_key: newKey() };
    const reply = await kit.app.post(sessionPath(id, '/runs'), body);
    textAt(hasStatus(reply, 200, 201, 202).body, 'id');
  }),
  check('2-run', 'a run has an id and a status', async (kit) => {
    const { run, at: where } = await kit.seen('echo');
    same(textAt(run, 'id'), where.runId, 'id');
    textAt(run, 'status');
  }),
  check('4.2-get-run', 'a run that was started can be read until after its end', async (kit) => {
    const run = await kit.begin('echo');
    textAt(await kit.steps.run(run), 'status');
    await kit.steps.follow(run);
    same(textAt(await kit.steps.run(run), 'status'), kit.dialect.run.completed, 'status');
  }),
  check('4.2-list-runs', 'the runs of a session are listed', async (kit) => {
    const { at: first } = await kit.seen('echo');
    const { list, list_query: query } = kit.dialect.run;
    const path = sessionPath(first.sessionId, `/runs${query}`);
    const { body } = hasStatus(await kit.app.get(path), 200);
    const ids = listAt(body, list).map((item) => textAt(item, 'id'));
    ensure(ids.includes(first.runId), `${first.runId} is not in ${excerpt(body)}`);
  }),
  check(
    '4.2-run-key',
    'the same key and body return the same run, also after its end',
    async (kit) => {
      const id = await kit.openSession('echo');
      const body = { input: kit.steps.input('Hello'), idempotency_key: newKey() };
      const start = async () =>
        textAt(
          hasStatus(await kit.app.post(sessionPath(id, '/runs'), body), 200, 201, 202).body,
          'id',
        );
      const runId = await start();
      same(await start(), runId, 'the id of the second answer');
      await kit.steps.follow({ sessionId: id, runId });
      same(await start(), runId, 'the id of the answer after the end');
      const { list } = kit.dialect.run;
      const { body: listed } = hasStatus(await kit.app.get(sessionPath(id, '/runs')), 200);
      same(listAt(listed, list).length, 1, 'the number of runs');
    },
  ),
  check('4.2-invoke', 'an agent is invoked once and its run streamed', async (kit) => {
    const json = fill(kit.dialect.run.invoke, { prompt: 'Hello' });
    const path = `/v1/agents/${kit.agentNames.echo}/runs`;
    const { reply, frames } = await kit.app.stream({ method: 'POST', path, json });
    hasStatus(reply, 200, 201);
    const types: string[] = [];
    for await (const frame of frames) {
      types.push(typeOf(frame));
      if (isTerminal(frame)) break;
    }
    same(types[0], 'run_started', 'the first event');
    same(types.at(-1), 'run_completed', 'the last event');
  }),
  check('3-run-started', 'run_started comes first, and the run has not ended', async (kit) => {
    const run = await kit.begin('slow');
    const frames = await kit.steps.until(run, 'run_started');
    same(frames.length, 1, 'the number of events up to run_started');
    ensure(!(await kit.steps.hasEnded(run)), 'the run has ended');
    await kit.app.post(runPath(run, '/cancel'));
  }),
  check('3-run-completed', 'run_completed is the end, and the record says so', async (kit) => {
    const { frames, run } = await kit.seen('echo');
    same(frames.map(typeOf).at(-1), 'run_completed', 'the last event');
    same(at(run, 'status'), kit.dialect.run.completed, 'status');
  }),
  check('2-run-no-error', 'a run that completed has no error', async (kit) => {
    const { run } = await kit.seen('echo');
    for (const field of ['error_code', 'error_message']) {
      ensure((at(run, field) ?? null) === null, `${field} is set in ${excerpt(run)}`);
    }
  }),
  check('4.2-cancel', 'a run that executes is cancelled', async (kit) => {
    const { frames } = await kit.seen('slow');
    ensure(frames.some(isTerminal), 'the run has not ended');
    const { run } = await kit.seen('slow');
    same(at(run, 'status'), kit.dialect.run.cancelled, 'status');
  }),
  check('3-run-cancelled', 'a cancelled run ends with run_cancelled', async (kit) => {
    const { frames } = await kit.seen('slow');
    same(frames.map(typeOf).at(-1), 'run_cancelled', 'the last event');
  }),
  check('3-run-cancelled', 'a run that waits for a person can be cancelled', async (kit) => {
    const run = await kit.begin('ask');
    await kit.steps.until(run, 'user_question');
    hasStatus(await kit.app.post(runPath(run, '/cancel')), 200, 202, 204);
    const frames = await kit.steps.follow(run);
    same(frames.map(typeOf).at(-1), 'run_cancelled', 'the last event');
    same((await kit.steps.pending(run.sessionId)).length, 0, 'the pending interactions');
  }),
  check('3-run-error', 'a run that fails ends with error', async (kit) => {
    const { frames, run } = await kit.seen('fail');
    same(frames.map(typeOf).at(-1), 'error', 'the last event');
    same(at(run, 'status'), kit.dialect.run.failed, 'status');
  }),
  check('2-run-error', 'the record of a run that failed has code and message', async (kit) => {
    const { run } = await kit.seen('fail');
    textAt(run, 'error_code');
    textAt(run, 'error_message');
  }),
  check('3-run-final', 'cancelling a run that has ended does not change it', async (kit) => {
    const { at: where } = await kit.seen('echo');
    const before = await kit.steps.run(where);
    const { status } = await kit.app.post(runPath(where, '/cancel'));
    ensure(status < 500, `cancel answers ${status}`);
    same(await kit.steps.run(where), before, 'the run after the cancel');
    const frames = await kit.steps.follow(where);
    same(frames.map(typeOf).at(-1), 'run_completed', 'the last event after the cancel');
  }),
];
