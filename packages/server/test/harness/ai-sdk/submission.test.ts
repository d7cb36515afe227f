// D-569: what an agent with an output_schema submits, and how often it is corrected.
import { afterAll, expect, test } from 'vitest';
import { compileSchema } from '../../../src/agents/schemas/compile-schema.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { completedWith } from '../../../src/domain/run/completion.ts';
import type { Answer } from '../../../src/ports/harness.ts';
import type { Said } from '../sittings.ts';
import { AiSdkPlace, type AiSdkAgent, type Dialect, dialects } from './agent.ts';

const place = await AiSdkPlace.open();
afterAll(() => place.close());

const teams = {
  type: 'object',
  properties: { team: { enum: ['billing', 'tech'] } },
  required: ['team'],
};
const submitting = (given: JsonObject) => `call submit_output ${JSON.stringify(given)}`;
const right = submitting({ team: 'billing' });
const wrong = submitting({ team: 'cats' });
const refusal =
  'The output of the agent tester does not fit its output_schema: /team must be one of "billing", "tech".';

const missing = 'The agent tester ended without the output that its output_schema describes.';

async function typed(schema: JsonObject = teams, more: AiSdkAgent = {}) {
  const output = { schema, check: await compileSchema({ schema, compilePattern: undefined }) };
  return place.agent({ ...more, output });
}

/** What the run becomes. */
function outcomeOf({ end }: Said, agent: Awaited<ReturnType<typeof typed>>) {
  if (end?.type !== 'end' || end.outcome !== 'completed') throw new Error(JSON.stringify(end));
  return completedWith(agent, end.output);
}

const names = Object.keys(dialects) as Dialect[];

test.each(names)('a model of %s submits the output, which ends the run', async (dialect) => {
  const agent = await typed(teams, { dialect });
  const session = await place.session(agent);
  const said = await session.play(`say Done. && ${right} ;; say never ${dialect}`);
  expect(outcomeOf(said, agent)).toEqual({ status: 'completed', output: { team: 'billing' } });
  expect(said.text).toBe('Done.');
  // Readers get the output with the end of the run.
  expect(said.custom('tool_call')).toEqual([]);
  // The next run of the session follows it.
  const next = await session.play(`say Again. && ${submitting({ team: 'tech' })}`);
  expect(outcomeOf(next, agent)).toEqual({ status: 'completed', output: { team: 'tech' } });
});

test.each(names)('a model of %s that submits nothing is asked for it', async (dialect) => {
  const agent = await typed(teams, { dialect });
  const marker = `silent-in-${dialect}.`;
  const said = await (await place.session(agent)).play(`say Well ${marker} ;; ${right}`);
  expect(outcomeOf(said, agent)).toEqual({ status: 'completed', output: { team: 'billing' } });
  const requests = place.modelServer.log.having(marker).map(({ source }) => source);
  const forced = /"tool_?[cC](hoice|onfig)":\s*\{[^}]*submit_output|allowedFunctionNames/;
  expect(requests.map((source) => forced.test(source))).toEqual([false, true]);
});

test('what does not fit is refused with its places, and may be submitted again twice', async () => {
  const agent = await typed();
  for (const script of [`${wrong} ;; ${right}`, `${wrong} ;; say Hm. ;; ${right}`]) {
    const said = await (await place.session(agent)).play(script);
    expect(outcomeOf(said, agent)).toEqual({ status: 'completed', output: { team: 'billing' } });
    expect(said.custom('output_refused')).toEqual([{ message: refusal }]);
  }
  const last = await (await place.session(agent)).play(`${wrong} ;; ${wrong} ;; ${right}`);
  expect(outcomeOf(last, agent)).toMatchObject({ status: 'completed' });
});

test('the third message without a fitting output fails the run', async () => {
  const agent = await typed();
  const scripts = {
    [`${wrong} ;; ${wrong} ;; ${wrong} ;; ${right}`]: refusal,
    [`say a ;; ${wrong} ;; ${wrong} ;; ${right}`]: refusal,
    [`say a ;; call list_files {} ;; say b ;; say c ;; ${right}`]: missing,
    [`say a ;; say b ;; say c ;; ${right}`]: missing,
  };
  for (const [script, message] of Object.entries(scripts)) {
    const said = await (await place.session(agent)).play(script);
    expect([script, outcomeOf(said, agent)]).toEqual([
      script,
      { status: 'failed', code: 'output_invalid', message },
    ]);
  }
});

test('an output beside a call that a person has to allow ends the run after the call', async () => {
  const agent = await typed(teams, { approvalRequiredTools: ['write_file'] });
  const session = await place.session(agent);
  const input = { path: 'a.txt', text: 'once' };
  const script = `call write_file ${JSON.stringify(input)} && ${right} ;; say never`;
  const { end, asked } = await session.play(script);
  expect(end).toMatchObject({ outcome: 'waiting' });
  const allowed: Answer = { kind: 'permission', allow: true, input };
  const said = await session.resume({ [asked[0]?.ref ?? '']: allowed });
  expect(outcomeOf(said, agent)).toEqual({ status: 'completed', output: { team: 'billing' } });
  expect(said.text).toBe('');
  expect(said.custom('tool_result')).toMatchObject([{ name: 'write_file', ok: true }]);
});

test('what was submitted wrongly before a wait counts after it', async () => {
  const agent = await typed(teams, { approvalRequiredTools: ['write_file'] });
  const session = await place.session(agent);
  const input = { path: 'a.txt', text: 'once' };
  const script = `call write_file ${JSON.stringify(input)} && ${wrong} ;; ${wrong} ;; ${wrong} ;; ${right}`;
  const { asked } = await session.play(script);
  const allowed: Answer = { kind: 'permission', allow: true, input };
  const said = await session.resume({ [asked[0]?.ref ?? '']: allowed });
  expect(outcomeOf(said, agent)).toMatchObject({ code: 'output_invalid', message: refusal });
});

test('an output that is no object is asked for as the member of one', async () => {
  const schema = { type: 'array', items: { $ref: '#/$defs/team' }, $defs: { team: { enum: [1] } } };
  const agent = await typed(schema);
  const wrongly = submitting({ value: [2] });
  const said = await (await place.session(agent)).play(
    `${wrongly} ;; ${submitting({ value: [1] })}`,
  );
  expect(outcomeOf(said, agent)).toEqual({ status: 'completed', output: [1] });
  expect(said.custom('output_refused')).toMatchObject([
    { message: expect.stringContaining('/0 must be one of 1') },
  ]);
});

test('an output that an edit of the schema no longer allows is asked for again', async () => {
  const before = await typed(teams, { approvalRequiredTools: ['write_file'] });
  const session = await place.session(before);
  const input = { path: 'a.txt', text: 'once' };
  const script = `call write_file ${JSON.stringify(input)} && ${right} ;; ${submitting({ team: 'tech' })}`;
  const { asked } = await session.play(script);
  const narrower = { ...teams, properties: { team: { const: 'tech' } } };
  const after = await typed(narrower, { approvalRequiredTools: ['write_file'] });
  const allowed: Answer = { kind: 'permission', allow: true, input };
  const moved = session.movedTo(session.harness, after);
  const answers = new Map([[asked[0]?.ref ?? '', allowed]]);
  const said = await moved.hear(moved.start('', answers));
  expect(outcomeOf(said, after)).toEqual({ status: 'completed', output: { team: 'tech' } });
});

test('an agent without an output_schema is offered no such tool', async () => {
  const settings = { tools: ['read_file'], ask_user: false };
  await (await place.session(place.agent({ settings }))).play('say no-schema-here');
  const [request] = place.modelServer.log.having('no-schema-here');
  expect(request?.tools).toEqual(['read_file']);
});
