// Claude's SDK is not installed here, so these tests replay recorded queries. Where a test needs what no recording has
// (a prompt to continue, an interruption while a person is asked), it is put together from recorded parts.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Agent } from '../../../src/domain/agent.ts';
import { claudeHarness } from '../../../src/harness/claude/harness.ts';
import { type Unfinished, continuePrompt } from '../../../src/harness/continue-prompt.ts';
import type { Answer } from '../../../src/ports/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf, recordingLog, temporaryFolder } from '../../support/agent-folders.ts';
import { databaseKinds } from '../../support/databases.ts';
import { watchedEffects } from '../../support/effects.ts';
import { eventually } from '../../support/eventually.ts';
import { Death, MortalLegs } from '../../support/mortal-legs.ts';
import { Sitting, allowing } from '../sittings.ts';
import { noSandbox } from './no-sandbox.ts';
import { promptOf, writeInput } from './plans.ts';
import { type Entry, type RecordedQuery, readRecording } from './sdk-recording.ts';
import { ReplayedSdk } from './sdk-replay.ts';

const recording = readRecording(fileURLToPath(new URL('recorded-queries.jsonl', import.meta.url)));
const settings = { env: { ANTHROPIC_API_KEY: 'test' } };
const note = writeInput('notes/note.txt', 'written once');
const title = `Write ${JSON.stringify(note)}`;
const stopping = 'The server is stopping.';

function recorded(name: string, index = 0): RecordedQuery {
  const query = recording.get(name)?.[index];
  if (query === undefined) throw new Error(`nothing was recorded for ${name}`);
  return query;
}

const writing = recorded('uses a tool that needs no approval without asking');
const interrupted = recorded('stops working when it is cancelled');
const several = recorded(
  'asks about several calls of one message one by one, and makes each that was allowed',
);

/** The same query with another prompt. */
function prompted({ test: name, entries }: RecordedQuery, text: string): RecordedQuery {
  const content = [{ type: 'text', text }];
  const message = { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
  return {
    test: name,
    entries: entries.map((entry) => ('prompt' in entry ? { prompt: message } : entry)),
  };
}

/** The same query as a later one of its session: the model gives its calls other ids. */
function later(query: RecordedQuery): RecordedQuery {
  return JSON.parse(JSON.stringify(query).replaceAll('toolu_call_2_0', 'toolu_call_9_0'));
}

/** The same query, with another decision about its calls. */
function decided(
  { test: name, entries }: RecordedQuery,
  decision: Readonly<Record<string, string>>,
): RecordedQuery {
  const is = { hookSpecificOutput: { ...decision } };
  return {
    test: name,
    entries: entries.map((entry) => ('reply' in entry ? { reply: entry.reply, is } : entry)),
  };
}

/** What Claude answers if it has no such session. */
const missing: RecordedQuery = {
  test: 'no session',
  entries: [
    {
      message: {
        type: 'result',
        subtype: 'error_during_execution',
        session_id: 'none',
        is_error: true,
        errors: ['No conversation found with session ID: none'],
        usage: {},
      },
    },
    { fails: 'Claude Code process exited with code 1' },
  ],
};

/** Claude before the model has begun to answer, until it is stopped. */
function silent({ test: name, entries }: RecordedQuery, hasInit: boolean): RecordedQuery {
  const first = entries.slice(0, hasInit ? 2 : 1);
  return { test: name, entries: [...first, { did: 'abort' }, { fails: 'Operation aborted' }] };
}

/** What Claude gets to continue. */
function goingOn(task: string, parts: Partial<Unfinished>): string {
  return continuePrompt({ task, actions: [], answers: [], ...parts });
}

function harnessOf(sdk: ReplayedSdk) {
  return claudeHarness({
    sandbox: noSandbox,
    clock: systemClock,
    log: recordingLog(),
    load: async () => sdk,
  });
}

/** A session whose process makes the first query; `next` is the same session in a process that makes the others. */
async function sit(queries: readonly RecordedQuery[], parts: Partial<Agent> = {}) {
  const folder = await temporaryFolder();
  const [sessionFolder, stateDir] = [join(folder, 'workspace'), join(folder, 'home')];
  for (const path of [sessionFolder, stateDir]) await mkdir(path);
  const agent = { ...agentOf({ framework: 'claude', folder: '/usr', settings }), ...parts };
  const sdk = new ReplayedSdk(queries);
  const places = { name: 'claude', agent, sessionFolder, stateDir };
  const sitting = new Sitting(harnessOf(sdk), places);
  const made = (file: string) => readFile(join(sessionFolder, file), 'utf8').catch(() => undefined);
  return { sitting, next: () => sitting.movedTo(harnessOf(sdk)), made, sdk };
}

const approved = 'uses an approved tool once, with the input that was approved (D-39)';

describe('Claude, whose server drains', () => {
  const task = promptOf(`call Write ${JSON.stringify(note)} ;; say done`);

  test('defers its next call, and the next process makes it (D-85)', async () => {
    const queries = [recorded(approved, 0), recorded(approved, 1)];
    const { sitting, next, made } = await sit(queries);
    const leg = sitting.start(task);
    const first = await sitting.hear(leg, {
      onEvent: (event) => event.type === 'custom' && event.name === 'tool_call' && leg.yield?.(),
    });
    expect(first.events.slice(-2)).toMatchObject([
      { type: 'checkpoint', recovery: true, state: { deferred: { isHandedOver: true } } },
      { type: 'end', outcome: 'yielded' },
    ]);
    expect([first.asked, await made('notes/note.txt')]).toEqual([[], undefined]);
    const moved = next();
    const { text, end } = await moved.hear(moved.goOn(task));
    expect([text, end]).toMatchObject(['done', { outcome: 'completed' }]);
    expect(await made('notes/note.txt')).toBe('written once');
  });

  test('asks about the deferred call if it needs approval by then, without a process', async () => {
    const { sitting, made } = await sit([recorded(approved, 0)]);
    const leg = sitting.start(task);
    await sitting.hear(leg, {
      onEvent: (event) => event.type === 'custom' && event.name === 'tool_call' && leg.yield?.(),
    });
    const agent = agentOf({ framework: 'claude', approvalRequiredTools: ['Write'], settings });
    const strict = sitting.movedTo(harnessOf(new ReplayedSdk([])), agent);
    const { end, asked } = await strict.hear(strict.goOn(task));
    expect(end).toMatchObject({ outcome: 'waiting' });
    expect(asked).toMatchObject([{ toolName: 'Write', toolInput: note }]);
    expect(await made('notes/note.txt')).toBeUndefined();
  });

  test('is interrupted in the middle of its words, and continues behind them', async () => {
    const hanging = promptOf('say working && hang');
    const last = recorded(approved, 2);
    const prompt = goingOn(hanging, { said: 'working' });
    const { sitting, next } = await sit([interrupted, prompted(last, prompt)]);
    const leg = sitting.start(hanging);
    const first = await sitting.hear(leg, {
      onEvent: ({ type }) => type === 'message_delta' && leg.yield?.(),
    });
    expect(first.end).toMatchObject({ outcome: 'yielded' });
    const moved = next();
    const second = await moved.hear(moved.goOn(hanging));
    expect([first.text, second.text]).toEqual(['working', 'again']);
  });

  test.each([false, true])(
    'is handed back before the model has begun to answer; it has named its session: %s',
    async (hasInit) => {
      const saying = promptOf('say again');
      const last = recorded(approved, 2);
      const told = hasInit ? goingOn(saying, {}) : saying;
      const { sitting, next, sdk } = await sit([silent(last, hasInit), prompted(last, told)]);
      const leg = sitting.start(saying);
      const heard = sitting.hear(leg);
      await eventually(() => (hasInit ? sitting.state !== undefined : sdk.running > 0));
      await leg.yield?.();
      expect((await heard).end).toEqual({ type: 'end', outcome: 'yielded' });
      const moved = next();
      const { text, end } = await moved.hear(moved.takeOver(saying));
      expect([text, end]).toMatchObject(['again', { outcome: 'completed' }]);
      expect(sdk.resumed[1] === undefined).toBe(!hasInit);
    },
  );

  test('leaves what it asks behind, and may make exactly that call once (D-39)', async () => {
    const isReply = (entry: Entry) => 'reply' in entry && entry.reply === 2;
    const asking = {
      ...several,
      entries: [
        ...several.entries.slice(0, several.entries.findIndex(isReply)),
        { reply: 2, is: { behavior: 'deny', message: stopping, interrupt: true } },
        ...interrupted.entries.slice(interrupted.entries.findIndex((entry) => 'did' in entry)),
      ],
    };
    const [first] = several.entries;
    const all = promptText(first);
    const input = writeInput('a.txt', 'a');
    const actions = [{ title: `Write ${JSON.stringify(input)}`, fate: 'approved' }] as const;
    const text = JSON.stringify(later(prompted(writing, goingOn(all, { actions, said: '' }))));
    const again: RecordedQuery = JSON.parse(
      text.replaceAll('notes/note.txt', 'a.txt').replaceAll('"written once"', '"a"'),
    );
    const { sitting, next, made } = await sit([asking, again], {
      approvalRequiredTools: ['Write'],
    });
    const leg = sitting.start(all);
    const said = await sitting.hear(leg, {
      onEvent: ({ type }) => type === 'permission_request' && leg.yield?.(),
    });
    expect(said.end).toMatchObject({ outcome: 'yielded' });
    const [asked] = said.asked;
    if (asked === undefined) throw new Error('it asks');
    const moved = next();
    const answers = new Map<string, Answer>([[asked.ref, allowing(asked)]]);
    const second = await moved.hear(moved.goOn(all, {}, answers));
    expect([second.asked, second.end]).toMatchObject([[], { outcome: 'completed' }]);
    expect(await made('a.txt')).toBe('a');
  });
});

describe.each(databaseKinds)('on %s, a worker of Claude that dies', (kind) => {
  const task = promptOf(`call Write ${JSON.stringify(note)}`);
  const recovery = {
    onLoss: 'resume',
    attempts: 3,
    inDoubt: 'ask',
    repeatableTools: [],
    cutMessage: 'continue',
  } as const;
  /** Of the recorded call. */
  const result =
    'File created successfully at: /workspace/notes/note.txt (file state is current in your context — no need to Read it back)';

  async function open(queries: readonly RecordedQuery[]) {
    const sdk = new ReplayedSdk(queries);
    const harness = harnessOf(sdk);
    const seat = { begun: () => {}, ended: () => {} };
    const fragile: typeof harness = {
      ...harness,
      start: (input, context) => {
        const { effects } = context;
        return harness.start(input, {
          ...context,
          effects: watchedEffects(effects, {
            begin: async (call) => {
              const mayBegin = await effects.begin(call);
              seat.begun();
              return mayBegin;
            },
            end: async (ref, result) => {
              await effects.end(ref, result);
              seat.ended();
            },
          }),
        });
      },
    };
    const agent = agentOf({ framework: 'claude', recovery, settings });
    const legs = await MortalLegs.open({ kind, agent, harness: fragile });
    onTestFinished(() => legs.close());
    return { legs, seat, sdk };
  }

  test('between the intent and the call: a person is asked, and the call is made once (D-83)', async () => {
    const actions = [{ title, fate: 'approved' }] as const;
    const again = later(prompted(writing, goingOn(task, { actions })));
    const { legs, seat, sdk } = await open([writing, again]);
    const run = await legs.start(task);
    const death = new Death();
    seat.begun = () => death.die();
    await legs.execute(run, death);
    expect(sdk.made).toEqual([]);
    seat.begun = () => {};
    const { ended, asked } = await legs.finishDoing(run);
    expect(ended).toMatchObject({ status: 'completed', outputText: 'The script is over.' });
    expect([asked, sdk.made]).toEqual([['in-doubt:toolu_call_2_0'], ['notes/note.txt']]);
  });

  test('behind the result: a call that Claude makes again gets the result, and is not made (D-89)', async () => {
    const again = decided(
      later(prompted(writing, goingOn(task, { actions: [{ title, fate: 'done' }] }))),
      {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: `This was carried out before the server was restarted. Repeat it only if it has to be done twice. Its result was: ${result}`,
      },
    );
    const { legs, seat, sdk } = await open([writing, again]);
    const run = await legs.start(task);
    const death = new Death();
    seat.ended = () => death.die();
    await legs.execute(run, death);
    const ended = await legs.finish(run, { answer: () => ({ answer: 'not asked' }) });
    expect(ended.status).toBe('completed');
    expect(await legs.joined(run)).toBe(ended.outputText);
    expect(sdk.made).toEqual(['notes/note.txt']);
  });

  test('before Claude has stored its new session: another session gets what the run knows, and repeats no call', async () => {
    const actions = [{ title, fate: 'done' }] as const;
    const again = decided(later(prompted(writing, goingOn(task, { actions }))), {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: `This was carried out before the server was restarted. Repeat it only if it has to be done twice. Its result was: ${result}`,
    });
    const { legs, seat, sdk } = await open([writing, missing, again]);
    const run = await legs.start(task);
    const death = new Death();
    seat.ended = () => death.die();
    await legs.execute(run, death);
    const ended = await legs.finish(run, { answer: () => ({ answer: 'not asked' }) });
    expect([ended.status, ended.outputText]).toEqual(['completed', 'The script is over.']);
    expect(await legs.joined(run)).toBe(ended.outputText);
    expect(sdk.made).toEqual(['notes/note.txt']);
    expect(sdk.resumed).toEqual([undefined, expect.any(String), undefined]);
  });

  test('before Claude has stored its new session, after words: another one continues behind them', async () => {
    const isMessage = (entry: Entry) =>
      'message' in entry && /"assistant"/.test(JSON.stringify(entry));
    const spoken = writing.entries.slice(0, writing.entries.findLastIndex(isMessage) + 1);
    const hanging = { ...writing, entries: [...spoken, { did: 'abort' } as const] };
    const said = 'The script is over.';
    const told = goingOn(task, { actions: [{ title, fate: 'done' }], said });
    const { legs } = await open([hanging, missing, prompted(recorded(approved, 2), told)]);
    const run = await legs.start(task);
    const death = new Death();
    const executed = legs.execute(run, death);
    await eventually(async () => {
      const log = await legs.world.logOf(run.id);
      const words = log.findLastIndex(({ data }) => data['text'] === ' over.') + 1;
      const { point } = await legs.world.store.read.sessions.state(run.sessionId);
      return words > 0 && (point?.seq ?? 0) >= words;
    });
    death.die();
    await executed;
    const ended = await legs.finish(run, { answer: () => ({ answer: 'not asked' }) });
    expect([ended.status, ended.outputText]).toEqual(['completed', `${said}again`]);
    expect(await legs.joined(run)).toBe(ended.outputText);
  });

  test('before Claude has stored its new session, in the middle of a call: a person is asked about it first (D-84)', async () => {
    const actions = [{ title, fate: 'approved' }] as const;
    const again = later(prompted(writing, goingOn(task, { actions })));
    const { legs, seat, sdk } = await open([writing, missing, again]);
    const run = await legs.start(task);
    const death = new Death();
    seat.begun = () => death.die();
    await legs.execute(run, death);
    seat.begun = () => {};
    const { ended, asked } = await legs.finishDoing(run);
    expect(ended.status).toBe('completed');
    expect([asked, sdk.made]).toEqual([['in-doubt:toolu_call_2_0'], ['notes/note.txt']]);
  });

  test('before Claude has named its session: the run starts again with its prompt (D-89)', async () => {
    const { legs, sdk } = await open([silent(writing, false), writing]);
    const run = await legs.start(task);
    const death = new Death();
    const executed = legs.execute(run, death);
    await eventually(() => sdk.running > 0);
    death.die();
    await executed;
    const ended = await legs.finish(run, { answer: () => ({ answer: 'not asked' }) });
    expect([ended.status, ended.outputText]).toEqual(['completed', 'The script is over.']);
    expect([sdk.made, sdk.resumed]).toEqual([['notes/note.txt'], [undefined, undefined]]);
  });

  test('and whose older session is gone: the run ends, since what it held is lost', async () => {
    const { legs, seat, sdk } = await open([writing, later(writing), missing]);
    const first = await legs.start(task);
    await legs.execute(first);
    const second = await legs.world.start(first.sessionId, task);
    const death = new Death();
    seat.ended = () => death.die();
    await legs.execute(second, death);
    const ended = await legs.finish(second, { answer: () => ({ answer: 'not asked' }) });
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
    expect(sdk.resumed).toEqual([undefined, expect.any(String), expect.any(String)]);
  });
});

function promptText(entry: Entry | undefined): string {
  const found = /"text":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(entry))?.[1] ?? '""';
  return JSON.parse(found);
}
