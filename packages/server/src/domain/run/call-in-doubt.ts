import type { AnsweredQuestion, CallInDoubt, QuestionAnswer } from '../interaction.ts';
import type { ToolCall } from './tool-call.ts';

/** D-84: the question about a call that was running when its worker was lost, and what each answer does. */

/** The choices of a person. Clients show them; only this file compares them with an answer. */
export const doubtOptions = {
  done: {
    label: 'Yes, it completed',
    description: 'The agent continues as if the call had completed. The call is not repeated.',
  },
  again: { label: 'No, run it now', description: 'The call runs once more with the same input.' },
  unknown: {
    label: "I'm not sure, skip it",
    description: 'The agent learns that the result is unknown. The call is not repeated.',
  },
} as const;

type DoubtAnswer = keyof typeof doubtOptions;

/** The meaning of each answer. Former labels stay: stored questions have them, and runs wait across an upgrade. */
const meanings: ReadonlyMap<string, DoubtAnswer> = new Map([
  [doubtOptions.done.label, 'done'],
  [doubtOptions.again.label, 'again'],
  [doubtOptions.unknown.label, 'unknown'],
  ['It was done', 'done'],
  ['It was not done: do it now', 'again'],
  ['I do not know: leave it', 'unknown'],
]);

export const noteOfLeftCall =
  'It is not known whether this was carried out. Check before doing it again.';

/** It is a question and not a permission, so that a client that allows every permission repeats nothing. */
export function questionAboutCall(
  call: ToolCall,
  { isRepeated }: { readonly isRepeated: boolean },
) {
  const about: CallInDoubt = {
    kind: 'call_in_doubt',
    toolName: call.toolName,
    toolInput: call.input,
    begunAt: call.begunAt,
  };
  return {
    type: 'user_question',
    ref: isRepeated ? repeatedRequestId(call) : requestIdAbout(call),
    question: `The server stopped while ${call.toolName} was running. Did it complete?`,
    options: Object.values(doubtOptions),
    about,
  } as const;
}

/** Name of the first question about a call. */
export function requestIdAbout({ ref }: Pick<ToolCall, 'ref'>): string {
  return `in-doubt:${ref}`;
}

/** Name of a later question: the call was repeated, and is in doubt once more. */
function repeatedRequestId(call: ToolCall): string {
  return `${requestIdAbout(call)}@${call.epoch}`;
}

/** Whether the interaction asks about this call. */
export function asksAbout({ requestId }: { readonly requestId: string }, call: ToolCall): boolean {
  return requestId === requestIdAbout(call) || requestId === repeatedRequestId(call);
}

/** Whether the answer has the call run once more: then the caller that gives it allows the call (D-520). */
export function repeatsCall(answer: QuestionAnswer): boolean {
  return meaningOf(answer) === 'again';
}

function meaningOf(answer: QuestionAnswer): DoubtAnswer | undefined {
  return 'declined' in answer ? undefined : meanings.get(textOf(answer));
}

function textOf({ answer }: Extract<QuestionAnswer, { readonly answer: unknown }>): string {
  return typeof answer === 'string' ? answer : answer.join(', ');
}

/** Only the exact second option repeats the call; any other answer is for the model, in the person's words. */
export function settleCall(call: ToolCall, { answer }: AnsweredQuestion): ToolCall {
  if ('declined' in answer) return leaveCall(call, answer.message ?? noteOfLeftCall);
  switch (meaningOf(answer)) {
    case 'again':
      return { ...call, status: 'again' };
    case 'done':
      return leaveCall(call, 'Marked as completed.');
    case 'unknown':
      return leaveCall(call);
    case undefined:
      return leaveCall(call, textOf(answer));
  }
}

/** The call is not repeated; the agent gets the note instead of a result. */
export function leaveCall(call: ToolCall, note = noteOfLeftCall): ToolCall {
  return { ...call, status: 'left', note };
}
