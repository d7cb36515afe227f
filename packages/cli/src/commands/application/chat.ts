import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { sessionOf } from '../../complete-id.ts';
import { type Following, addFollowingOptions } from '../../options/following.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { followRun } from '../../terminal/follow-run.ts';
import { remark } from '../../terminal/output.ts';
import { clearSpinner } from '../../terminal/spinner.ts';
import { remarkWrittenFiles } from '../../terminal/written-files.ts';

export function chatCommand(): Command {
  const command = new Command('chat')
    .description('Chat with an agent in one session; an empty line exits')
    .argument('<agent>', 'name of the agent (see `convoke agents`)')
    .option('--session <id>', 'continue this session')
    .addHelpText('after', example('chat demo --session sess_…'))
    .action(async (agent: string, options: ChatOptions, chatting: Command) => {
      const { json = false } = globalOptions(chatting);
      const convoke = await connect(chatting);
      const { session: id, stream = false } = options;
      const session =
        id === undefined ? await convoke.sessions.create(agent) : await sessionOf(convoke, id);
      remark(`session ${session.id}`, 'dim');
      if (id !== undefined) await session.resume();
      for await (const prompt of process.stdin.isTTY ? typed() : piped()) {
        const run = await session.run(prompt);
        const ended = await followRun(run, { convoke, json, stream, answering: options });
        if (ended === undefined) break;
        if (!json) await remarkWrittenFiles(session.files, ended);
      }
      remark(`continue with: convoke chat ${agent} --session ${session.id}`, 'dim');
    });
  return addFollowingOptions(command);
}

interface ChatOptions extends Following {
  readonly session?: string;
}

/** Closes the line reader while a run is shown, because the run may prompt for an answer. */
async function* typed(): AsyncGenerator<string> {
  for (;;) {
    clearSpinner();
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    terminal.once('SIGINT', () => terminal.close());
    const said = await Promise.race([terminal.question('> '), ended]);
    terminal.close();
    if (said.trim() === '') return;
    yield said.trim();
  }
}

async function* piped(): AsyncGenerator<string> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== '') yield line.trim();
  }
}
