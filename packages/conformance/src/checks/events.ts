import { type Check, check } from '../check.ts';
import { NotApplicable, ensure, excerpt, isRecord, same } from '../failure.ts';
import { at, textAt, timeAt } from '../fields.ts';
import type { Frame } from '../frames.ts';
import type { FinishedRun, Kit } from '../kit.ts';
import { hasStatus } from '../server.ts';
import { dataOf, firstOf, isTerminal, runPath, terminalTypes, typeOf } from '../steps.ts';

/** The types that section 6 names. */
function isNamed(type: string): boolean {
  return (
    terminalTypes.includes(type) ||
    /^(run_started|message_delta|permission_(request|resolved)|user_(question|answered))$/.test(
      type,
    ) ||
    /^((context_file|claude_md)_(loaded|changed)|agent_skills_loaded)$/.test(type)
  );
}

async function everyRun(kit: Kit, look: (finished: FinishedRun) => void): Promise<void> {
  for (const finished of await kit.allSeen()) {
    ensure(finished.frames.length > 0, `${runPath(finished.at, '/events')} has no frames`);
    look(finished);
  }
}

async function everyFrame(kit: Kit, look: (frame: Frame) => void): Promise<void> {
  await everyRun(kit, ({ frames }) => frames.forEach(look));
}

export function textOf(frames: readonly Frame[]): string {
  return frames
    .filter((frame) => typeOf(frame) === 'message_delta')
    .map((frame) => String(dataOf(frame)['text']))
    .join('');
}

/** Accepts the frame with which that many deltas have come. */
function deltas(count: number): (frame: Frame) => boolean {
  let seen = 0;
  return (frame) => typeOf(frame) === 'message_delta' && ++seen === count;
}

export const eventChecks: readonly Check[] = [
  check('4.2-events', 'events are a stream of frames with id, event and data', async (kit) => {
    const { at: run } = await kit.seen('echo');
    const { reply, frames } = await kit.steps.open(run);
    hasStatus(reply, 200);
    const type = reply.headers.get('content-type') ?? '';
    ensure(type.startsWith('text/event-stream'), `the content type is ${type}`);
    let count = 0;
    for await (const { id, event, data } of frames) {
      count += 1;
      ensure(id !== '' && event !== '' && isRecord(data), 'a frame lacks id, event or data');
    }
    ensure(count > 0, 'the stream has no frame');
  }),
  check('6-envelope', 'every event has the fields of the envelope', (kit) =>
    everyFrame(kit, ({ data }) => {
      for (const field of ['id', 'type', 'session_id', 'run_id']) textAt(data, field);
      ensure(isRecord(at(data, 'data')), `data is to be an object in ${excerpt(data)}`);
      timeAt(data, 'created_at');
    }),
  ),
  check('6-owner', 'every event names its session and its run', (kit) =>
    everyRun(kit, ({ at: { sessionId, runId }, frames }) => {
      for (const { data } of frames) {
        same(at(data, 'session_id'), sessionId, 'session_id');
        same(at(data, 'run_id'), runId, 'run_id');
      }
    }),
  ),
  check('6-frame', 'event and id lines repeat type and id', (kit) =>
    everyFrame(kit, ({ id, event, data }) => {
      same(event, at(data, 'type'), 'the event line');
      same(id, at(data, 'id'), 'the id line');
    }),
  ),
  check('1-times', 'times of events are RFC 3339 in UTC and do not go back', (kit) =>
    everyRun(kit, ({ frames }) => {
      const times = frames.map(({ data }) => timeAt(data, 'created_at'));
      const isSorted = times.every((time, index) => index === 0 || time >= (times[index - 1] ?? 0));
      ensure(isSorted, `times go back: ${excerpt(times)}`);
    }),
  ),
  ...(['run_started', 'run_completed', 'run_cancelled'] as const).map((type) =>
    check(`6-${type}`, `${type} carries run_id`, async (kit) => {
      const { at: run, frames } = await kit.seen(type === 'run_cancelled' ? 'slow' : 'echo');
      same(dataOf(firstOf(frames, type))['run_id'], run.runId, 'run_id');
    }),
  ),
  check('6-error', 'error carries a message', async (kit) => {
    textAt(dataOf(firstOf((await kit.seen('fail')).frames, 'error')), 'message');
  }),
  check('6-message_delta', 'message_delta carries text, framework and model', async (kit) => {
    const data = dataOf(firstOf((await kit.seen('echo')).frames, 'message_delta'));
    for (const field of ['text', 'framework', 'model']) {
      ensure(typeof data[field] === 'string', `${field} is to be a string in ${excerpt(data)}`);
    }
  }),
  check('6-deltas', 'the deltas of an echo contain its prompt', async (kit) => {
    const prompt = 'Zwei Wörter, 你好 and a line\nbreak \u2028 “quoted”';
    const said = textOf(await kit.steps.follow(await kit.begin('echo', prompt)));
    ensure(said.includes(prompt), `the prompt is not in ${excerpt(said)}`);
  }),
  check('6-r1', 'every event of a run has an id of its own', (kit) =>
    everyRun(kit, ({ frames }) => {
      same(new Set(frames.map(({ id }) => id)).size, frames.length, 'the number of different ids');
    }),
  ),
  check('6-r2', 'replay starts strictly after every id', async (kit) => {
    for (const { at: run, frames } of await kit.allSeen()) {
      for (const [index, { id }] of frames.slice(0, -1).entries()) {
        const rest = await kit.steps.follow(run, isTerminal, id);
        same(
          rest.map((frame) => frame.id),
          frames.slice(index + 1).map((frame) => frame.id),
          `the ids after ${id}`,
        );
      }
    }
  }),
  check('6-r2-same', 'a later reader gets the same frames as the first', async (kit) => {
    for (const { at: run, frames } of await kit.allSeen()) {
      const again = await kit.steps.follow(run);
      same(
        again.map(({ raw }) => raw),
        frames.map(({ raw }) => raw),
        'the frames',
      );
    }
  }),
  check('6-r3', 'a reader that is up to date gets what comes next', async (kit) => {
    const run = await kit.begin('ask');
    const before = await kit.steps.until(run, 'user_question');
    const last = before.at(-1)?.id ?? '';
    const { reply, frames } = await kit.steps.open(run, last);
    // The stream may close cleanly; it may not say that the run has ended.
    hasStatus(reply, 200);
    await frames.return(undefined);
    const { reply: same200 } = await kit.steps.open(run, last);
    hasStatus(same200, 200);
    hasStatus(await kit.app.post(runPath(run, '/cancel')), 200, 202, 204);
    const rest = await kit.steps.follow(run, isTerminal, last);
    same(rest.map(typeOf).at(-1), 'run_cancelled', 'the last event');
  }),
  check('6-r3-drop', 'a run continues when its reader leaves', async (kit) => {
    const run = await kit.begin('slow');
    const { frames } = await kit.steps.open(run);
    const first = await frames.next();
    await frames.return(undefined);
    ensure(first.done !== true, 'the stream has no event');
    const rest = await kit.steps.follow(run, deltas(3), first.value.id);
    const said = rest.filter((frame) => typeOf(frame) === 'message_delta');
    same(said.length, 3, 'the number of further deltas');
    ensure(!rest.some(({ id }) => id === first.value.id), 'the first event came again');
    await kit.app.post(runPath(run, '/cancel'));
  }),
  check('6-r4', 'the terminal event is one of three, once, and the last', async (kit) => {
    const look = async ({ at: run }: FinishedRun) => {
      const types = (await kit.steps.whole(run)).map(typeOf);
      const ends = types.filter((type) => terminalTypes.includes(type));
      same(ends.length, 1, `the number of terminal events in ${types.join(', ')}`);
      same(types.at(-1), ends[0], 'the last event');
    };
    await Promise.all((await kit.allSeen()).map(look));
  }),
  check('6-r5', 'types that the specification does not name keep the envelope', async (kit) => {
    let found = 0;
    for (const { at: run, frames } of await kit.allSeen()) {
      for (const { id, event, data } of frames.filter((frame) => !isNamed(typeOf(frame)))) {
        found += 1;
        same([id, event], [at(data, 'id'), at(data, 'type')], 'id and event');
        same(at(data, 'session_id'), run.sessionId, 'session_id');
        same(at(data, 'run_id'), run.runId, 'run_id');
        timeAt(data, 'created_at');
        ensure(isRecord(at(data, 'data')), `data is to be an object in ${excerpt(data)}`);
      }
    }
    if (found === 0) throw new NotApplicable('no run has an event of a harness');
  }),
];
