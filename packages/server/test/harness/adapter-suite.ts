import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runId, sessionId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../src/domain/agent.ts';
import type { Json } from '../../src/domain/json.ts';
import type { Rule } from '../../src/domain/rules/rule.ts';
import type { Answer, Harness, HarnessEvent, Leg, LegInput } from '../../src/ports/harness.ts';
import type { Account } from '../../src/ports/sandbox.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { readBy, recordingLog, temporaryFolder } from '../support/agent-folders.ts';
import { eventually } from '../support/eventually.ts';
import { recordingEffects, ruledEffects } from '../support/effects.ts';
import { partsWith, ruleScenarios } from './adapter-rules.ts';
import { stateIn } from './sittings.ts';

/** One step of an agent of the suite. */
export type Step =
  | { readonly say: string }
  /** Uses the tool `write_file` in the session folder. */
  | { readonly write: { readonly path: string; readonly text: string } }
  | { readonly ask: { readonly question: string; readonly options: readonly string[] } }
  /** Says the answer to the question before. */
  | { readonly sayAnswer: true }
  /** Says something and then works until it is ended. */
  | { readonly work: true }
  | { readonly fail: string };

export interface Plan {
  readonly agent: Agent;
  readonly prompt: string;
  /** The rules of the organization. */
  readonly organization?: readonly Rule[];
}

type Ability = 'approvals' | 'questions' | 'rules' | 'tools';

/** One framework, and how to make an agent of it that follows a scenario. */
export interface AdapterUnderTest {
  /** Opens the harness as a server that has just started. */
  open(): Promise<OpenAdapter>;
  planFor(steps: readonly Step[], gatedTools: readonly string[]): Promise<Plan> | Plan;
  /** Two runs of one session, and the text that the second emits only if the session remembers the first. */
  readonly memory: Promise<Memory> | Memory;
  /** Whether a leg behind an answer gets all answers and results of its run (`Harness.replays`). */
  readonly replays?: true;
  /** Whether anything the last leg started still runs. */
  isWorking?(): boolean;
  /** Resolves when the session can be opened again. */
  beforeRestart?(): Promise<void>;
  /** How the runtime shows a call that writes this file, where it has its own format. */
  shows?(written: { readonly path: string; readonly text: string }): object;
  /** The pointer to the path of the written file in what rules see, if it is not `/path`. */
  readonly rules?: { readonly path: string };
  /** Features that the runtime lacks, with the reason: the scenarios that need them are skipped. */
  readonly cannot?: Readonly<Partial<Record<Ability, string>>>;
}

export interface OpenAdapter {
  readonly harness: Harness;
  /** The owner of the session's folders. */
  readonly account?: Account | undefined;
  readonly close?: () => Promise<void>;
}

export interface Memory {
  readonly first: Plan;
  readonly second: Plan;
  readonly expected: string;
}

type Asked = Extract<HarnessEvent, { type: 'permission_request' | 'user_question' }>;
type Answers = (asked: Asked) => Answer | Promise<Answer>;

/** The same guarantees for every adapter. Between two legs the server is restarted and the state goes through JSON. */
export function adapterSuite(name: string, adapter: AdapterUnderTest): void {
  describe(`the ${name} adapter`, () => {
    const start = async (steps: readonly Step[], gatedTools: readonly string[] = []) => {
      const session = await openSession(adapter);
      return { session, plan: await adapter.planFor(steps, gatedTools) };
    };
    const note = { path: 'notes/note.txt', text: 'written once' };
    // Skipped scenarios are listed with the reason, so that they do not look tested.
    const without = (...needs: readonly Ability[]) => {
      const reason = needs.map((need) => adapter.cannot?.[need]).find((each) => each !== undefined);
      return reason === undefined ? '' : `: left out, since ${reason}`;
    };
    const can = (...needs: readonly Ability[]) => without(...needs) === '';
    const colour = { question: 'Which colour?', options: ['red', 'blue'] };

    test('streams the text of the agent and completes', async () => {
      const { session, plan } = await start([{ say: 'one two three four' }]);
      const { events, end } = await session.run(plan);
      expect(textOf(events)).toContain('one two three four');
      expect(end).toMatchObject({ outcome: 'completed' });
    });

    test.runIf(can('approvals'))(
      `does not use a tool that is refused, nor before it is answered${without('approvals')}`,
      async () => {
        const { session, plan } = await start([{ write: note }], ['write_file']);
        const { asked, end } = await session.run(plan, async () => {
          expect(await session.read(note.path)).toBeUndefined();
          return { kind: 'permission', allow: false, reason: 'not today' };
        });
        const toolInput = adapter.shows?.(note) ?? note;
        expect(asked).toMatchObject([{ type: 'permission_request', toolInput }]);
        expect(end).toMatchObject({ outcome: 'completed' });
        expect(await session.read(note.path)).toBeUndefined();
      },
    );

    test.runIf(can('approvals'))(
      `uses an approved tool once, with the input that was approved (D-39)${without('approvals')}`,
      async () => {
        const { session, plan } = await start([{ write: note }, { say: 'done' }], ['write_*']);
        const { asked, end, events } = await session.run(plan, allow);
        expect(asked).toHaveLength(1);
        expect(textOf(events)).toContain('done');
        expect(end).toMatchObject({ outcome: 'completed' });
        expect(await session.read(note.path)).toBe(note.text);
        await rm(join(session.sessionFolder, note.path));
        await session.run(await adapter.planFor([{ say: 'again' }], ['write_*']), allow);
        expect(await session.read(note.path)).toBeUndefined();
      },
    );

    test.runIf(can('approvals'))(
      `starts no tool once another server has the run${without('approvals')}`,
      async () => {
        const { session, plan } = await start([{ write: note }, { say: 'done' }], ['write_*']);
        const { asked } = await session.run(plan, (each) => {
          session.loseLease();
          return allow(each);
        });
        expect(asked).toHaveLength(1);
        expect(await session.read(note.path)).toBeUndefined();
      },
    );

    test.runIf(can('tools'))(
      `uses a tool that needs no approval without asking${without('tools')}`,
      async () => {
        const { session, plan } = await start([{ write: note }]);
        expect((await session.run(plan)).asked).toEqual([]);
        expect(await session.read(note.path)).toBe(note.text);
      },
    );

    describe.runIf(can('rules', 'approvals'))(
      `follows a rule that looks at the input (D-507)${without('rules', 'approvals')}`,
      () => {
        ruleScenarios(async (scenario) => {
          const { session, plan } = await start([{ write: note }, { say: 'done' }], ['write_*']);
          const { approvalRequiredTools: tools } = plan.agent;
          const { path = '/path' } = adapter.rules ?? {};
          const { agent, organization } = partsWith(scenario, { tools, path });
          const ruled = { ...plan, organization, agent: { ...plan.agent, ...agent } };
          const { asked, end } = await session.run(ruled, allow);
          const kinds = asked.map(({ type }) => type);
          return { kinds, end, isWritten: (await session.read(note.path)) === note.text };
        });
      },
    );

    test.runIf(can('questions'))(
      `asks a question and continues with the answer${without('questions')}`,
      async () => {
        const { session, plan } = await start([{ ask: colour }, { sayAnswer: true }]);
        const { asked, events, end } = await session.run(plan, (each) => {
          expect(each).toMatchObject({ type: 'user_question', question: colour.question });
          return { kind: 'question', values: ['blue'] };
        });
        expect(asked).toHaveLength(1);
        expect(textOf(events)).toContain('blue');
        expect(end).toMatchObject({ outcome: 'completed' });
      },
    );

    test.runIf(can('approvals', 'questions'))(
      `continues after a restart while it waits for several things, one after the other${without('approvals', 'questions')}`,
      async () => {
        const steps: Step[] = [{ ask: colour }, { write: note }, { say: 'done' }];
        const { session, plan } = await start(steps, ['*']);
        const { asked, events, end } = await session.run(plan, (each) =>
          each.type === 'user_question' ? { kind: 'question', values: ['red'] } : allow(each),
        );
        expect(asked.map(({ type }) => type)).toEqual(['user_question', 'permission_request']);
        expect(textOf(events)).toContain('done');
        expect(end).toMatchObject({ outcome: 'completed' });
        expect(await session.read(note.path)).toBe(note.text);
      },
    );

    test.runIf(can('questions'))(
      `answers the next prompt when the run before it was cancelled while it waited${without('questions')}`,
      async () => {
        const { session, plan } = await start([{ ask: colour }, { say: 'never said' }]);
        await session.abandonWhenAsked(plan);
        const { events, end } = await session.run(await adapter.planFor([{ say: 'again' }], []));
        expect(textOf(events)).toContain('again');
        expect(textOf(events)).not.toContain('never said');
        expect(end).toMatchObject({ outcome: 'completed' });
      },
    );

    test('stops working when it is cancelled', async () => {
      const { session, plan } = await start([{ work: true }]);
      const { end } = await session.run(plan, allow, async (leg, event) => {
        if (event.type !== 'message_delta') return;
        if (adapter.isWorking !== undefined) await eventually(() => adapter.isWorking?.());
        await leg.cancel();
      });
      expect(end).toMatchObject({ type: 'end', outcome: 'cancelled' });
      expect(adapter.isWorking?.() ?? false).toBe(false);
    });

    test('stops working at once when it is killed', async () => {
      const { session, plan } = await start([{ work: true }]);
      await session.run(plan, allow, async (leg, event) => {
        if (event.type === 'message_delta') await leg.kill();
      });
      expect(adapter.isWorking?.() ?? false).toBe(false);
    });

    test('ends with an error that contains the message of the agent', async () => {
      const { session, plan } = await start([{ say: 'trying ' }, { fail: 'out of luck' }]);
      const { end } = await session.run(plan);
      expect(end).toMatchObject({
        outcome: 'error',
        message: expect.stringContaining('out of luck'),
      });
    });

    test('remembers the previous run over a restart', async () => {
      const { first, second, expected } = await adapter.memory;
      const session = await openSession(adapter);
      expect((await session.run(first)).end).toMatchObject({ outcome: 'completed' });
      await adapter.beforeRestart?.();
      expect(textOf((await session.run(second)).events)).toContain(expected);
    });
  });
}

function allow(asked: Asked): Answer {
  if (asked.type === 'user_question') return { kind: 'question', values: ['yes'] };
  return { kind: 'permission', allow: true, input: asked.toolInput };
}

interface RunResult {
  readonly events: readonly HarnessEvent[];
  readonly asked: readonly Asked[];
  readonly end: HarnessEvent | undefined;
}

type Watch = (leg: Leg, event: HarnessEvent) => Promise<void>;

interface Session {
  readonly sessionFolder: string;
  run(plan: Plan, answers?: Answers, watch?: Watch): Promise<RunResult>;
  /** Runs until something is asked, without answering. */
  abandonWhenAsked(plan: Plan): Promise<void>;
  /** From now on the run belongs to another server. */
  loseLease(): void;
  read(path: string): Promise<string | undefined>;
}

async function openSession(adapter: AdapterUnderTest): Promise<Session> {
  const dataDir = await temporaryFolder();
  const id = sessionId(`sess_${randomUUID().slice(0, 8)}`);
  let state: Json | undefined;
  let runNumber = 0;
  let folders = { sessionFolder: '', stateDir: '' };
  let holdsLease = true;
  let ledger = recordingEffects();

  async function leg(plan: Plan, input: LegInput, take: Watch): Promise<HarnessEvent[]> {
    const { harness, account, close } = await adapter.open();
    const prepared = await openSessionFolders({ dataDir, log: recordingLog(), account }).prepare({
      tenantId: tenantId('ten_1'),
      sessionId: id,
      agent: plan.agent,
      expected: runNumber > 1 || input.kind !== 'prompt',
      files: [],
    });
    if (!prepared.found) throw new Error('the workspace is lost');
    folders = prepared;
    const events: HarnessEvent[] = [];
    try {
      const agent = readBy(harness, plan.agent);
      const running = harness.start(input, {
        ...folders,
        effects: ruledEffects(agent, input, { ...ledger, ...plan }),
        texts: prepared.texts,
        runId: runId(`run_${runNumber}`),
        sessionId: id,
        agent,
        settings: agent.settings,
        runNumber,
        prompt: plan.prompt,
        input: { prompt: plan.prompt },
        state,
        signal: new AbortController().signal,
        holdsLease: () => holdsLease,
      });
      for await (const event of running) {
        events.push(event);
        const given = stateIn(event);
        if (given !== undefined) state = JSON.parse(JSON.stringify(given));
        if (event.type !== 'end') await take(running, event);
      }
    } finally {
      await harness.release?.(id);
      await close?.();
    }
    return events;
  }

  async function run(plan: Plan, answers: Answers = allow, watch?: Watch): Promise<RunResult> {
    runNumber += 1;
    ledger = recordingEffects();
    const events: HarnessEvent[] = [];
    const asked: Asked[] = [];
    const answered = new Map<string, Answer>();
    let input: LegInput = { kind: 'prompt' };
    for (;;) {
      const open = new Map<string, Answer>();
      const said = await leg(plan, input, async (running, event) => {
        await watch?.(running, event);
        if (event.type !== 'permission_request' && event.type !== 'user_question') return;
        asked.push(event);
        const answer = await answers(event);
        // A runtime that waits in its process takes the answer at once.
        if (!(await running.answer(event.ref, answer))) open.set(event.ref, answer);
      });
      events.push(...said);
      const end = said.at(-1);
      if (end?.type !== 'end' || end.outcome !== 'waiting') return { events, asked, end };
      expect(open.size, 'who waits has asked').toBeGreaterThan(0);
      for (const [ref, answer] of open) answered.set(ref, answer);
      const calls = new Map(ledger.calls);
      input = adapter.replays
        ? { kind: 'continue', reason: 'answered', answers: new Map(answered), calls }
        : { kind: 'resume', answers: open };
    }
  }

  return {
    get sessionFolder() {
      return folders.sessionFolder;
    },
    run,
    async abandonWhenAsked(plan) {
      runNumber += 1;
      ledger = recordingEffects();
      await leg(plan, { kind: 'prompt' }, async (running, event) => {
        // A runtime that waits in its process is cancelled; a parked run has no process.
        if (event.type === 'user_question') await running.cancel();
      });
    },
    loseLease() {
      holdsLease = false;
    },
    read: (path) => readFile(join(folders.sessionFolder, path), 'utf8').catch(() => undefined),
  };
}

function textOf(events: readonly HarnessEvent[]): string {
  return events.map((event) => (event.type === 'message_delta' ? event.text : '')).join('');
}
