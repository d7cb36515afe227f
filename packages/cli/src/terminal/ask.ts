import { createInterface } from 'node:readline/promises';
import type { InteractionHandlers } from '@convoke/sdk';
import { styled } from './output.ts';
import { clearSpinner } from './spinner.ts';

/** Prompts at the terminal. An empty answer declines a question and denies a permission request. */
export function terminalHandlers(): InteractionHandlers {
  return {
    async onPermission({ tool_name, tool_input }, { signal }) {
      const input = JSON.stringify(tool_input, null, 2);
      const said = await ask(
        `\n${attention('approve')} ${tool_name} ${input}\n  [y]es or [n]o? `,
        signal,
      );
      return /^y(es)?$/i.test(said) ? 'allow' : 'deny';
    },

    async onQuestion({ question, options = [], multiple }, { signal }) {
      const choices = options.map(({ label, description }, index) => {
        const more =
          description === undefined ? '' : `  ${styled('dim', description, process.stderr)}`;
        return `  ${index + 1}. ${label}${more}`;
      });
      const said = await ask(
        ['', `${attention('?')} ${question}`, ...choices, '  > '].join('\n'),
        signal,
      );
      if (said === '') return { declined: true };
      const picked = (multiple === true ? said.split(',') : [said]).map((part) =>
        choose(part.trim(), options),
      );
      return multiple === true ? picked : (picked[0] ?? said);
    },
  };
}

function attention(text: string): string {
  return styled('yellow', text, process.stderr);
}

function choose(said: string, options: readonly { readonly label: string }[]): string {
  return options[Number(said) - 1]?.label ?? said;
}

/** Concurrent requests are prompted one after the other. */
let asking: Promise<unknown> = Promise.resolve();

function ask(question: string, signal: AbortSignal): Promise<string> {
  const said = asking.then(() => askNow(question, signal));
  asking = said.catch(() => undefined);
  return said;
}

async function askNow(question: string, signal: AbortSignal): Promise<string> {
  clearSpinner();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // While readline reads a line it consumes Ctrl-C, so pass it on to the handler of the run.
  terminal.on('SIGINT', () => process.emit('SIGINT'));
  try {
    return (await terminal.question(question, { signal })).trim();
  } finally {
    terminal.close();
  }
}
