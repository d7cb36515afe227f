import type { SettledInteraction, WorkspaceBehind } from '../interaction.ts';
import type { ToolCall } from './tool-call.ts';

/** D-91: the question about a run whose machine did not come back with the latest files of its session. */

const callsShownMax = 20;

const options = {
  continue: 'Continue with the files as they were saved',
  end: 'End the run',
} as const;

const prefix = 'workspace-behind:';

export const noteOfLostChange =
  'It was carried out, but its changes of files are lost: the files are as they were saved before.';

/** `epoch` is that of the lost leg: a later loss is asked about again. */
export function questionAboutFolder(calls: readonly ToolCall[], epoch: number) {
  const about: WorkspaceBehind = {
    kind: 'workspace_behind',
    calls: calls.slice(0, callsShownMax).map(({ toolName, begunAt }) => ({ toolName, begunAt })),
  };
  return {
    type: 'user_question',
    ref: `${prefix}${epoch}`,
    question:
      'The machine with the latest files of this session is gone. Continue with the files as they were saved?',
    options: Object.values(options).map((label) => ({ label })),
    about,
  } as const;
}

/** A person's answer about the files of the leg with this epoch; undefined if there was no question or no answer. */
export function folderAnswer(
  answered: readonly SettledInteraction[],
  epoch: number,
): 'continue' | 'end' | undefined {
  const about = answered.find(({ requestId }) => requestId === `${prefix}${epoch}`);
  if (about?.kind !== 'question') return undefined;
  // Only the exact option continues without the files.
  return 'answer' in about.answer && about.answer.answer === options.continue ? 'continue' : 'end';
}
