/** The outcome of an action of an agent that continues in its own session. */
export interface ToldAction {
  readonly title: string;
  /** `approved`: a person wants it carried out now. `refused`: a person did not allow it. */
  readonly fate: 'done' | 'not done' | 'unknown' | 'approved' | 'refused';
  /** In the person's words, if there are any. */
  readonly note?: string | undefined;
}

export interface Unfinished {
  /** Repeated, in case it never arrived. */
  readonly task: string;
  readonly actions: readonly ToldAction[];
  /** The agent's questions, with the answers. */
  readonly answers: readonly { readonly question: string; readonly answer: string }[];
  /** The end of its answer so far, if the agent may have to be told where it stopped. */
  readonly said?: string | undefined;
}

/** The prompt for an agent whose process was stopped in the middle of a task: what happened to its work. */
export function continuePrompt({ task, actions, answers, said = '' }: Unfinished): string {
  const listed = (heading: string, fate: ToldAction['fate']) => {
    const lines = actions.filter((action) => action.fate === fate).map(lineOf);
    return lines.length === 0 ? '' : [heading, ...lines].join('\n');
  };
  const sections = [
    'The server was restarted while you were working on a task, and your process with it. Continue with the task from where you were.',
    listed('These actions were carried out. Do not carry them out again:', 'done'),
    listed('These actions were not carried out:', 'not done'),
    listed(
      'It is not known whether these actions were carried out. Find out before you repeat one:',
      'unknown',
    ),
    listed('A person did not allow these actions:', 'refused'),
    listed(
      'A person allowed these actions. Carry each of them out now, once, with exactly the same input:',
      'approved',
    ),
    answers.length === 0
      ? ''
      : `You had asked:\n${answers.map(({ question, answer }) => `- ${question}\n  The answer is: ${answer}`).join('\n')}`,
    said === '' ? '' : `Your answer so far ends with the following. Do not repeat it:\n${said}`,
    `The task was:\n${task}`,
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function lineOf({ title, note = '' }: ToldAction): string {
  return note === '' ? `- ${title}` : `- ${title} (${note})`;
}
