import { reportFailure } from './failure.ts';
import { createProgram } from './program.ts';
import { clearSpinner } from './spinner.ts';
import { stopWhenUnread } from './terminal.ts';

const program = createProgram();
stopWhenUnread();
try {
  await program.parseAsync();
} catch (error) {
  reportFailure(error, { verbose: program.opts<{ verbose?: boolean }>().verbose ?? false });
} finally {
  clearSpinner();
}
