import { type Check, check } from '../check.ts';
import { NotApplicable, ensure, excerpt, same } from '../failure.ts';
import { at, fill, listAt, textAt } from '../fields.ts';
import type { Kit } from '../kit.ts';
import { hasStatus } from '../server.ts';
import { type RunAt, dataOf, firstOf, sessionPath, typeOf } from '../steps.ts';

interface Waiting {
  readonly run: RunAt;
  readonly event: Readonly<Record<string, unknown>>;
  readonly record: unknown;
}

/** A run that waits for a person, with its event and its durable record. */
async function waiting(kit: Kit, role: 'ask' | 'approve'): Promise<Waiting> {
  const type = role === 'ask' ? 'user_question' : 'permission_request';
  const run = await kit.begin(role);
  const event = dataOf((await kit.steps.until(run, type)).at(-1));
  const [record] = await kit.steps.pending(run.sessionId);
  return { run, event, record };
}

function answerOf(kit: Kit, answer: string): unknown {
  return fill(kit.dialect.interaction.answer, { answer });
}

export const interactionChecks: readonly Check[] = [
  check('3-interaction-raised', 'a question and a request are announced', async (kit) => {
    firstOf((await kit.seen('ask')).frames, 'user_question');
    firstOf((await kit.seen('approve')).frames, 'permission_request');
  }),
  check('3-interaction-recorded', 'an answer and a decision are announced', async (kit) => {
    firstOf((await kit.seen('ask')).frames, 'user_answered');
    firstOf((await kit.seen('approve')).frames, 'permission_resolved');
  }),
  check('6-user_question', 'user_question has request_id, key and question', async (kit) => {
    const data = dataOf(firstOf((await kit.seen('ask')).frames, 'user_question'));
    for (const field of ['request_id', 'interaction_key']) textAt(data, field);
    textAt(data, kit.dialect.interaction.question_field);
  }),
  check(
    '6-permission_request',
    'permission_request has key, tool_name and tool_input',
    async (kit) => {
      const data = dataOf(firstOf((await kit.seen('approve')).frames, 'permission_request'));
      for (const field of ['request_id', 'interaction_key', 'tool_name']) textAt(data, field);
      ensure(data['tool_input'] !== undefined, `tool_input is missing in ${excerpt(data)}`);
    },
  ),
  check(
    '6-user_answered',
    'user_answered has the key of the question and the answer',
    async (kit) => {
      const { frames } = await kit.seen('ask');
      const data = dataOf(firstOf(frames, 'user_answered'));
      const { interaction_key: key } = dataOf(firstOf(frames, 'user_question'));
      same(data['interaction_key'], key, 'interaction_key');
      same(at(data, kit.dialect.interaction.answer_field), 'blue', 'the answer');
    },
  ),
  check('6-permission_resolved', 'permission_resolved has key and decision', async (kit) => {
    const { frames } = await kit.seen('approve');
    const data = dataOf(firstOf(frames, 'permission_resolved'));
    const { interaction_key: key } = dataOf(firstOf(frames, 'permission_request'));
    same(data['interaction_key'], key, 'interaction_key');
    textAt(data, kit.dialect.interaction.decision_field);
  }),
  check(
    '4.2-list-interactions',
    'a waiting question is listed, an answered one is not',
    async (kit) => {
      const { run, record } = await waiting(kit, 'ask');
      const key = textAt(record, 'interaction_key');
      hasStatus(
        await kit.steps.answer(run.sessionId, key, answerOf(kit, 'red')),
        200,
        201,
        202,
        204,
      );
      same((await kit.steps.pending(run.sessionId)).length, 0, 'the pending interactions');
    },
  ),
  check('2-interaction', 'a pending interaction has an interaction_key', async (kit) => {
    textAt((await waiting(kit, 'ask')).record, 'interaction_key');
  }),
  check('6-r6-record', 'the listed record has the key of the event', async (kit) => {
    const { event, record } = await waiting(kit, 'approve');
    same(textAt(record, 'interaction_key'), event['interaction_key'], 'interaction_key');
  }),
  check('6-exact-input', 'the record of a permission shows the input of its event', async (kit) => {
    const { event, record } = await waiting(kit, 'approve');
    const shown = at(record, 'tool_input');
    if (shown === undefined) throw new NotApplicable('the record does not show tool_input');
    same(shown, event['tool_input'], 'tool_input of the record');
    const name = at(record, 'tool_name');
    if (name !== undefined) same(name, event['tool_name'], 'tool_name of the record');
  }),
  check('4.2-filter', 'the status filter finds answered interactions', async (kit) => {
    const { at: run, frames } = await kit.seen('ask');
    const { filter, answered, list } = kit.dialect.interaction;
    const path = sessionPath(run.sessionId, `/interactions?${filter}=${answered}`);
    const { body } = hasStatus(await kit.app.get(path), 200);
    const { interaction_key: key } = dataOf(firstOf(frames, 'user_question'));
    const keys = listAt(body, list).map((item) => textAt(item, 'interaction_key'));
    same(keys, [key], 'the keys of answered interactions');
  }),
  check('4.2-invalid-status', 'an unknown status has the code invalid_status', async (kit) => {
    const { filter } = kit.dialect.interaction;
    const session = await kit.openSession('echo');
    const path = sessionPath(session, `/interactions?${filter}=no-such-status`);
    same(at(hasStatus(await kit.app.get(path), 400).body, 'error'), 'invalid_status', 'error');
  }),
  check('4.2-answer', 'an answer lets the run continue with it', async (kit) => {
    const { frames, run } = await kit.seen('ask');
    same(frames.map(typeOf).at(-1), 'run_completed', 'the last event');
    same(at(run, 'status'), kit.dialect.run.completed, 'status');
  }),
  check('4.2-answer', 'a denied permission lets the run continue, too', async (kit) => {
    const { run, record } = await waiting(kit, 'approve');
    const key = textAt(record, 'interaction_key');
    const { deny } = kit.dialect.interaction;
    hasStatus(await kit.steps.answer(run.sessionId, key, deny), 200, 201, 202, 204);
    const frames = await kit.steps.follow(run);
    same(frames.map(typeOf).at(-1), 'run_completed', 'the last event');
  }),
  check('6-r6-key', 'a request_id does not answer an interaction', async (kit) => {
    const { run, event } = await waiting(kit, 'ask');
    const requestId = encodeURIComponent(String(event['request_id']));
    const body = answerOf(kit, 'red');
    const reply = await kit.steps.answer(run.sessionId, requestId, body);
    hasStatus(reply, 404, 400);
    same((await kit.steps.pending(run.sessionId)).length, 1, 'the pending interactions');
  }),
];
