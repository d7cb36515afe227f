import { equal, notEqual, ok } from 'node:assert/strict';
import type { RunEvent, RunRecord } from '@convoke/contract';
import type { Random } from './random.ts';
import type { Frame } from './raw-event-reader.ts';
import { saidIn } from './run-log.ts';
import type { AgentFolder } from './server-folder.ts';

/** The purpose of the runs of one session. */
export type Role = 'talk' | 'ask' | 'write' | 'cancel' | 'queue';

export const agents: Readonly<Record<string, AgentFolder>> = {
  talker: { script: [{ say: { text: '{{prompt}}', every_ms: 8 } }] },
  asker: {
    script: [
      { say: { text: 'Let me think. ', every_ms: 8 } },
      { ask: { question: 'What about {{prompt}}?' } },
      { say: { text: 'You said {{answer}}, so be it.', every_ms: 8 } },
    ],
  },
  writer: {
    approval_required_tools: ['write_file'],
    script: [
      { say: { text: 'May I? ', every_ms: 8 } },
      { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{prompt}}' } } },
      { say: { text: 'Written down for good.', every_ms: 8 } },
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
    const fewest = user.role === 'queue' ? 150 : 20;
    const words = isShort ? user.random.whole(2, 30) : user.random.whole(fewest, 250);
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
  if (run.status === 'completed') equal(said, whole);
  if (run.status === 'failed') {
    equal(run.error_code, 'worker_lost');
    equal(last?.data['error_code'], 'worker_lost');
    equal(last?.data['recovered'], true);
  }
  const written = events.filter((event) => event.type === 'scripted.tool_result').length;
  const isAllowed = decisionOf(tested) === 'allow';
  ok(written <= (isAllowed ? 1 : 0));
  if (isAllowed && run.status === 'completed') equal(written, 1);
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
