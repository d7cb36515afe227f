import { createProgram } from './program.ts';
import { stopWhenUnread } from './terminal/output.ts';
import { clearSpinner } from './terminal/spinner.ts';

const program = await createProgram(process.argv.slice(2));
stopWhenUnread();
try {
  await program.parseAsync();
} catch (error) {
  // Loads the SDK, which the commands that run a server do not need.
  const { reportFailure } = await import('./report-failure.ts');
  reportFailure(error, { verbose: program.opts<{ verbose?: boolean }>().verbose ?? false });
} finally {
  clearSpinner();
}
