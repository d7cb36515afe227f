import { equal, notEqual, ok } from 'node:assert/strict';
import type { InteractionRecord, RunEvent, RunRecord } from '@convoke/contract';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import type { Random } from './random.ts';
import type { Frame } from './raw-event-reader.ts';
import { saidIn } from './run-log.ts';
import type { AgentFolder } from './server-folder.ts';

/** The purpose of the runs of one session. */
export type Role = 'talk' | 'ask' | 'write' | 'cancel' | 'queue';

/** What a writer was allowed to write, a line for each time. */
export const notesFile = 'notes.txt';

/** More losses in a row than any test has: no run of these agents is ever lost. */
const recovery = { attempts: 20 };

export const agents: Readonly<Record<string, AgentFolder>> = {
  talker: { recovery, script: [{ say: { text: '{{prompt}}', every_ms: 16 } }] },
  asker: {
    recovery,
    script: [
      { say: { text: 'Let me think. ', every_ms: 16 } },
      { ask: { question: 'What about {{prompt}}?' } },
      { say: { text: 'You said {{answer}}, so be it.', every_ms: 16 } },
    ],
  },
  writer: {
    recovery,
    approval_required_tools: ['append_file'],
    script: [
      { say: { text: 'May I? ', every_ms: 16 } },
      {
        tool: {
          name: 'append_file',
          input: { path: notesFile, text: '{{prompt}}\n', before_ms: 300, after_ms: 300 },
        },
      },
      { say: { text: 'Written down for good.', every_ms: 16 } },
    ],
  },
};

const agentOf: Readonly<Record<Role, string>> = {
  talk: 'talker',
  cancel: 'talker',
  queue: 'talker',
  ask: 'asker',
  write: 'writer',
};

/** A simulated user: one session and its runs under way. */
export interface SimulatedUser {
  readonly role: Role;
  readonly agentName: string;
  readonly sessionId: string;
  readonly random: Random;
  runs: TestedRun[];
  readonly finished: TestedRun[];
}

export function createUser(role: Role, sessionId: string, random: Random): SimulatedUser {
  return { role, agentName: agentOf[role], sessionId, random, runs: [], finished: [] };
}

type AnswerBody = { readonly answer: string } | { readonly decision: 'allow' | 'deny' };

/** A run, the requests made for it, and the events seen of it. */
export interface TestedRun {
  readonly key: string;
  readonly prompt: string;
  /** Known once a start was answered. */
  id: string | undefined;
  /** The frames that each reader received before the server died. */
  seen: (readonly Frame[])[];
  /** The log as it was last read whole. */
  log: readonly Frame[];
  isCancelAccepted: boolean;
  interactionKey: string | undefined;
  answer: { readonly body: AnswerBody; isAccepted: boolean } | undefined;
}

let keys = 0;

export function planRuns(user: SimulatedUser): TestedRun[] {
  return Array.from({ length: user.role === 'queue' ? 3 : 1 }, (_, index) => {
    const isShort = index > 0 || user.role === 'ask' || user.role === 'write';
    const fewest = user.role === 'queue' || user.role === 'cancel' ? 75 : 10;
    const words = isShort ? user.random.whole(2, 15) : user.random.whole(fewest, 125);
    return {
      key: `key-${++keys}`,
      prompt: Array.from({ length: words }, (_, word) => `w${word}-${keys}`).join(' '),
      id: undefined,
      seen: [],
      log: [],
      isCancelAccepted: false,
      interactionKey: undefined,
      answer: undefined,
    };
  });
}

export function planAnswer(user: SimulatedUser): TestedRun['answer'] {
  if (user.role === 'ask') {
    return { body: { answer: `number ${user.random.whole(1, 1000)}` }, isAccepted: false };
  }
  return { body: { decision: user.random.pick(['allow', 'deny']) }, isAccepted: false };
}

/** The answer to what a recovery asks (D-84, D-91); undefined when the agent itself asks. */
export function answerToRecovery(
  { about }: InteractionRecord,
  wasDone: boolean,
): { readonly answer: string } | undefined {
  if (about === undefined) return undefined;
  if (about.kind === 'workspace_behind') {
    return { answer: 'Continue with the files as they were saved' };
  }
  return { answer: (wasDone ? doubtOptions.done : doubtOptions.again).label };
}

/** D-21, D-24, D-26, I7, I15: checks the end of a run against the requests made for it. */
export function checkEnd(
  user: SimulatedUser,
  tested: TestedRun,
  seen: { run: RunRecord; events: RunEvent[] },
) {
  const { run, events } = seen;
  const said = saidIn(events);
  const whole = wholeText(user, tested);
  ok(whole.startsWith(said), `${said} begins ${whole}`);
  equal(run.output_text ?? '', said);
  const last = events.at(-1);
  if (tested.isCancelAccepted) equal(run.status, 'cancelled');
  if (user.role !== 'cancel') notEqual(run.status, 'cancelled');
  // D-88: whatever happened to its servers, it went on.
  notEqual(run.status, 'failed', run.error_message);
  if (run.status === 'completed') {
    equal(said, whole);
    equal(last?.data['recovered'] ?? false, run.attempt > 1);
  }
  const hasResult = events.some((event) => event.type === 'scripted.tool_result');
  if (run.status === 'completed') equal(hasResult, isAllowed(tested));
  else ok(!hasResult || isAllowed(tested));
}

/** Whether the run may write, as far as its person has decided. */
export function isAllowed(tested: TestedRun): boolean {
  return decisionOf(tested) === 'allow';
}

/** The whole text of the agent in an uninterrupted run. */
function wholeText({ role }: SimulatedUser, tested: TestedRun): string {
  if (role === 'ask') {
    const said = answerOf(tested);
    return said === undefined ? 'Let me think. ' : `Let me think. You said ${said}, so be it.`;
  }
  if (role !== 'write') return tested.prompt;
  const decision = decisionOf(tested);
  if (decision === undefined) return 'May I? ';
  return decision === 'allow' ? 'May I? Written down for good.' : 'May I? denied';
}

function answerOf({ answer }: TestedRun): string | undefined {
  return answer !== undefined && 'answer' in answer.body ? answer.body.answer : undefined;
}

function decisionOf({ answer }: TestedRun): string | undefined {
  return answer !== undefined && 'decision' in answer.body ? answer.body.decision : undefined;
}
