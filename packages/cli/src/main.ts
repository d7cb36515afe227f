import { createProgram } from './program.ts';
import { stopWhenUnread } from './terminal/output.ts';
import { clearSpinner } from './terminal/spinner.ts';

const program = createProgram();
stopWhenUnread();
try {
  await program.parseAsync();
} catch (error) {
  // With the SDK, which the commands that run a server do without.
  const { reportFailure } = await import('./report-failure.ts');
  reportFailure(error, { verbose: program.opts<{ verbose?: boolean }>().verbose ?? false });
} finally {
  clearSpinner();
}
