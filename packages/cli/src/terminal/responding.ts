import type { InteractionHandlers, InteractionRecord, RunHandle } from '@convoke/sdk';
import type { Answering } from '../options/following.ts';
import { chooseOptions } from '@convoke/faces';
import { printable } from '@convoke/faces/printable';
import { neededFor, reasonsOf } from './approvers.ts';
import type { GivenAnswers } from './given-answers.ts';
import type { Interrupts } from './interrupts.ts';
import { remark } from './output.ts';
import { askPermission, askQuestion } from './person-answers.ts';

interface RespondingParts {
  readonly run: RunHandle;
  readonly answering: Answering;
  readonly isAttended: boolean;
  /** Whether to wait for an answer from elsewhere. */
  readonly isPatient: boolean;
  readonly interrupts: Interrupts;
  /** Where a person sees the run in the console. */
  readonly linkTo: (runId: string) => Promise<string>;
  /** Stops following; the run continues. */
  readonly leave: () => void;
  /** The answers of the person to runs before. */
  readonly given?: GivenAnswers | undefined;
}

/** Answers interactions: as the options say, else as the person at the terminal says, else not at all. */
export function createHandlers(parts: RespondingParts): InteractionHandlers {
  const { answering, run, isAttended, interrupts, leave, given } = parts;
  const answers = [...(answering.answer ?? [])];
  const leaveFor = (record: InteractionRecord) => {
    // A person at the terminal has read it above the question.
    if (!isAttended) for (const reason of reasonsOf(record)) remark(reason, 'dim');
    remark(printable(`waiting for ${whatOf(record)}; answer with: ${commandFor(record)}`), 'dim');
    if (isAttended || !parts.isPatient) leave();
    return undefined;
  };
  return {
    async onPermission(record, { signal }) {
      const { approve } = answering;
      if (approve === 'allow' || approve === 'deny') return approve;
      if (approve === 'fail') {
        remark(printable(`${record.tool_name} needs approval (--approve fail): cancelling`));
        await run.cancel();
        return undefined;
      }
      const before = given?.permission(record);
      if (before !== undefined) return before;
      const said = isAttended ? await askPermission(record, { signal, interrupts }) : undefined;
      if (said !== undefined) given?.keepPermission(record, said);
      return said ?? leaveFor(record);
    },

    async onWaiting(record) {
      if (answering.approve === 'fail') {
        remark(printable(`${record.tool_name} needs approval (--approve fail): cancelling`));
        await run.cancel();
        return;
      }
      for (const reason of reasonsOf(record)) remark(reason, 'dim');
      const needed = neededFor(record) ?? 'waits for other people';
      remark(printable(`${record.tool_name} ${needed}: ${await parts.linkTo(run.id)}`), 'dim');
      if (isAttended || !parts.isPatient) leave();
    },

    async onQuestion(record, { signal }) {
      // `--answer` is for the agent's questions: it must not repeat a call that may have been carried out (D-84).
      const next = record.about === undefined ? answers.shift() : undefined;
      if (next !== undefined) {
        const { options = [], multiple = false } = record;
        const chosen = chooseOptions(next, { options, multiple });
        if (typeof chosen === 'string' || Array.isArray(chosen)) return chosen;
        remark(`--answer ${next}: ${chosen.problem}`);
        return leaveFor(record);
      }
      const before = given?.answer(record);
      if (before !== undefined) return before;
      const said = isAttended ? await askQuestion(record, { signal, interrupts }) : undefined;
      if (said !== undefined) given?.keepAnswer(record, said);
      return said ?? leaveFor(record);
    },
  };
}

function whatOf({ kind, tool_name, question }: InteractionRecord): string {
  return kind === 'permission' ? `permission to run ${tool_name}` : `an answer to: ${question}`;
}

function commandFor({ session_id, interaction_key, kind }: InteractionRecord): string {
  const answer = kind === 'permission' ? '--allow' : '--answer …';
  return `convoke interactions answer ${session_id} ${interaction_key} ${answer}`;
}
