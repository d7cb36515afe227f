import type { ReportedCall } from './state.ts';

/** Tells an agent whose process was lost what became of its work. The task is repeated, in case it never arrived. */
export function continuePrompt(task: string, calls: readonly ReportedCall[]): string {
  const sections = [
    'The server was restarted while you were working on a task, and your process with it. Continue with the task from where you were.',
    listed('These actions were carried out. Do not carry them out again:', calls, 'done'),
    listed('These actions were not carried out:', calls, 'not done'),
    listed(
      'It is not known whether these actions were carried out. Find out before you repeat one:',
      calls,
      'unknown',
    ),
    `The task was:\n${task}`,
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function listed(
  heading: string,
  calls: readonly ReportedCall[],
  status: ReportedCall['status'],
): string {
  const lines = calls.filter((call) => call.status === status).map(({ title }) => `- ${title}`);
  return lines.length === 0 ? '' : [heading, ...lines].join('\n');
}
