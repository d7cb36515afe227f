import { otherMembers } from '../../domain/run/run-input.ts';
import type { Answer, LegContext, LegInput } from '../../ports/harness.ts';
import type { UserMessage } from './remote.ts';
import type { A2aSettings } from './settings.ts';
import { type FollowedTask, type Waiting, stateOf } from './state.ts';

/** How a leg begins: with a message, with a task that is under way, or not at all. */
export type Start =
  | {
      readonly kind: 'send';
      readonly message: UserMessage;
      /** Counts the messages to the agent in this run. */
      readonly number: number;
      /** Text and question of an earlier leg of the task. */
      readonly before: Pick<Waiting, 'asked' | 'told'> | undefined;
      /** A task that waits for an answer to an earlier run. */
      readonly abandoned: string | undefined;
    }
  | { readonly kind: 'attach'; readonly followed: FollowedTask }
  | { readonly kind: 'fail'; readonly reason: string; readonly before?: undefined };

/** The start of a leg, from its input and the last checkpoint. */
export function startOf(input: LegInput, context: LegContext<A2aSettings>): Start {
  const { state, runId, prompt } = context;
  const known = stateOf(state);
  const followed = known?.followed;
  if (input.kind !== 'prompt' && followed?.run === runId) {
    return { kind: 'attach', followed };
  }
  const waiting = known?.waiting?.run === runId ? known.waiting : undefined;
  const number = input.kind === 'prompt' ? 1 : (waiting?.number ?? 0) + 1;
  const call = input.kind === 'continue' ? input.calls.get(callOf(number)) : undefined;
  if (call?.state === 'left' || call?.state === 'ended') {
    // The task of an answer is known. If the answer did not arrive, the task still asks: so does the run.
    if (waiting !== undefined) return { kind: 'attach', followed: taskOf(waiting, number) };
    const note = call.state === 'left' ? ` ${call.note}` : '';
    const reason = `The message may have reached the remote agent, but its task is not known.${note}`;
    return { kind: 'fail', reason };
  }
  if (input.kind === 'prompt' || (input.kind === 'continue' && waiting === undefined)) {
    const data = otherMembers(context.input);
    const first = { id: runId, text: prompt, context: known?.context ?? '', task: '' };
    const message = Object.keys(data).length === 0 ? first : { ...first, data };
    const abandoned = known?.waiting?.task;
    return { kind: 'send', message, number: 1, before: undefined, abandoned };
  }
  const ref = refOf(waiting?.number ?? 0);
  const answer = input.answers.get(ref);
  if (waiting !== undefined && known !== undefined && answer !== undefined) {
    const message = {
      id: `${runId}-${ref}`,
      text: answerText(answer),
      context: known.context,
      task: waiting.task,
    };
    return { kind: 'send', message, number, before: waiting, abandoned: undefined };
  }
  return { kind: 'fail', reason: 'The run has no open question to resume.' };
}

function taskOf({ run, task, told }: Waiting, message: number): FollowedTask {
  return { run, task, message, asked: '', told, hasText: false, isDone: false };
}

/** The name of a message in the ledger of calls. */
export function callOf(number: number): string {
  return `message-${number}`;
}

/** The name of a question. */
export function refOf(number: number): string {
  return `question-${number}`;
}

function answerText(answer: Answer): string {
  if (answer.kind === 'permission') return answer.allow ? 'yes' : 'no';
  if ('declined' in answer) return `I would rather not answer. ${answer.reason ?? ''}`.trim();
  return answer.values.join(', ');
}
