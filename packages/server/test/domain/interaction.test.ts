import { interactionKey, organizationId, runId, sessionId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { answeredEvent } from '../../src/domain/run/interaction-event.ts';
import {
  type AnsweredInteraction,
  type Interaction,
  type InteractionAnswer,
  answerInteraction,
  approvedInput,
  openInteraction,
} from '../../src/domain/interaction.ts';

const shown = { path: 'a.txt', text: 'hi' };
const identity = {
  key: interactionKey('int_1'),
  organizationId: organizationId('org_1'),
  tenantId: tenantId('ten_1'),
  sessionId: sessionId('sess_1'),
  runId: runId('run_1'),
  requestId: 'call-1',
  waitMs: 99,
};
const permission = openInteraction(
  { ...identity, request: { kind: 'permission', toolName: 'write_file', toolInput: shown } },
  1,
);
const question = openInteraction(
  {
    ...identity,
    request: { kind: 'question', question: 'Which?', options: null, multiple: false, about: null },
  },
  1,
);

const allow: InteractionAnswer = { kind: 'permission', decision: 'allow' };
const deny: InteractionAnswer = { kind: 'permission', decision: 'deny', message: 'no' };
const edited: InteractionAnswer = {
  kind: 'permission',
  decision: 'allow',
  updatedInput: { path: 'b.txt', text: 'hi' },
};
const blue: InteractionAnswer = { kind: 'question', answer: 'blue' };
const several: InteractionAnswer = { kind: 'question', answer: ['red', 'blue'] };
const declined: InteractionAnswer = { kind: 'question', declined: true };
const by = { actor: 'cli_1', now: 7 };

function answered(interaction: Interaction, answer: InteractionAnswer): AnsweredInteraction {
  const ruling = answerInteraction(interaction, answer, by);
  if (!ruling.ok) throw new Error(ruling.code);
  const { interaction: after } = ruling.value;
  return after.status === 'answered' ? after : expect.fail('not answered');
}

function answeredPermission(answer: InteractionAnswer) {
  const interaction = answered(permission, answer);
  if (interaction.kind !== 'permission') throw new Error('not a permission');
  return interaction;
}

describe('an answer (D-38)', () => {
  test('to a pending interaction is recorded with who and when', () => {
    expect(answerInteraction(permission, allow, by)).toEqual({
      ok: true,
      value: {
        outcome: 'answered',
        interaction: {
          ...permission,
          status: 'answered',
          answer: allow,
          answeredBy: 'cli_1',
          answeredAt: 7,
          appliedAt: null,
        },
      },
    });
  });

  const answers: readonly [Interaction, readonly InteractionAnswer[]][] = [
    [permission, [allow, deny, edited]],
    [question, [blue, several, declined]],
  ];
  const pairs = answers.flatMap(([interaction, all]) =>
    all.flatMap((given) => all.map((again) => ({ interaction, given, again }))),
  );
  test.each(pairs)(
    'the same again is harmless, another is refused: $given then $again',
    ({ interaction, given, again }) => {
      const known = answered(interaction, given);
      const ruling = answerInteraction(known, again, { actor: 'cli_2', now: 9 });
      expect(ruling).toEqual(
        given === again
          ? { ok: true, value: { outcome: 'repeated', interaction: known } }
          : { ok: false, code: 'interaction_answered' },
      );
    },
  );

  test('with its members in another order is the same answer', () => {
    const known = answered(permission, edited);
    const updatedInput = { text: 'hi', path: 'b.txt' };
    expect(
      answerInteraction(known, { kind: 'permission', decision: 'allow', updatedInput }, by),
    ).toMatchObject({ ok: true, value: { outcome: 'repeated' } });
  });

  test('must be of the kind that was asked for', () => {
    const refusal = { ok: false, code: 'invalid_answer' };
    expect(answerInteraction(permission, blue, by)).toEqual(refusal);
    expect(answerInteraction(question, allow, by)).toEqual(refusal);
  });

  test.each(['expired', 'cancelled'] as const)(
    'to an interaction that is %s is refused',
    (status) => {
      expect(answerInteraction({ ...permission, status }, allow, by)).toEqual({
        ok: false,
        code: 'interaction_not_pending',
      });
    },
  );
});

describe('an allow of two people (D-517)', () => {
  const given = ['usr_1', 'usr_2'].map((id) => ({ by: id, at: 5 }));
  const last = { ...by, actor: 'usr_2', approvals: { given, needed: 2 } };
  const ruling = answerInteraction(permission, { ...allow, message: 'Fine.' }, last);
  const done = ruling.ok ? ruling.value.interaction : expect.fail(ruling.code);
  const again = (actor: string, answer: InteractionAnswer) =>
    answerInteraction(done, answer, { ...by, actor });

  test('may be repeated by each of them, in other words too', () => {
    for (const { by: actor } of given) {
      for (const answer of [allow, { ...allow, message: 'Yes.' }]) {
        expect(again(actor, answer)).toMatchObject({ ok: true, value: { outcome: 'repeated' } });
      }
    }
  });

  test('is refused afterwards with another content, and of others with other words', () => {
    const answers = [edited, deny, { ...allow, remember: 'exact' } as const];
    const refusals = [...answers.map((answer) => again('usr_1', answer)), again('usr_3', allow)];
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'interaction_answered' });
  });
});

describe('an approval (D-39)', () => {
  test('is for exactly what was shown', () => {
    expect(approvedInput(answeredPermission(allow))).toEqual(shown);
  });

  test('is for exactly what the person put in its place', () => {
    expect(approvedInput(answeredPermission(edited))).toEqual({ path: 'b.txt', text: 'hi' });
  });
});

describe('the event of an answer (D-39)', () => {
  test.each([
    [allow, 'permission_resolved', { decision: 'allow' }],
    [deny, 'permission_resolved', { decision: 'deny', message: 'no' }],
    [
      edited,
      'permission_resolved',
      { decision: 'allow', updated_input: { path: 'b.txt', text: 'hi' } },
    ],
    [blue, 'user_answered', { answer: 'blue' }],
    [several, 'user_answered', { answer: ['red', 'blue'] }],
    [declined, 'user_answered', { declined: true }],
    [
      { kind: 'question', declined: true, message: 'not mine' } as const,
      'user_answered',
      { declined: true, message: 'not mine' },
    ],
  ])('%o → %s', (answer, type, data) => {
    const asked = answer.kind === 'permission' ? permission : { ...question, multiple: true };
    expect(answeredEvent(answered(asked, answer))).toEqual({
      type,
      data: { interaction_key: 'int_1', ...data },
    });
  });
});
