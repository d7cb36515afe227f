import type { Convoke, JsonObject, Run, SessionHandle } from '@convoke/sdk';
import { Command, Option } from 'commander';
import { isWhole, sessionOf } from '../../complete-id.ts';
import { exitCodes, Failure } from '../../failure.ts';
import { type Following, addFollowingOptions } from '../../options/following.ts';
import { globalOptions } from '../../options/global-options.ts';
import { inputOption, runInputOf, typedPrompt } from '../../options/run-input.ts';
import { example, readLabels, repeated } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { followRun, remarkHowToFollow } from '../../terminal/follow-run.ts';
import { printJson, remark } from '../../terminal/output.ts';
import { printFacts } from '../../terminal/table.ts';
import { remarkWrittenFiles } from '../../terminal/written-files.ts';
import { openUpload, uploadFile } from '../../upload-file.ts';

const followed = ['stream', 'approve', 'answer', 'timeout', 'unattended', 'watch'];

export function invokeCommand(): Command {
  const command = new Command('invoke')
    .description('Run an agent once and stream its answer')
    .argument('<agent>', 'name of the agent (see `convoke agents`)')
    .argument('[prompt]', 'prompt for the agent; - reads it from standard input')
    .addOption(inputOption())
    .option('--session <id>', 'use this session instead of a new one')
    .option(
      '--file <path>',
      'upload and attach this file, or with --session the id of a file there; may be repeated',
      repeated,
    )
    .option('--label <key:value>', 'label of the run; may be repeated', readLabels)
    .addOption(new Option('--detach', 'start the run, print its ids and exit').conflicts(followed))
    .addOption(new Option('--no-wait', 'the same as --detach').conflicts(followed))
    .option('--watch', 'invoke again whenever the agent changes, with the answers given before')
    .addHelpText('after', example('invoke demo "Hello"'))
    .addHelpText(
      'after',
      '\nExit codes: 0 completed, or started with --detach; 3 failed, 4 cancelled, 7 left\nunfinished. Ctrl-C asks whether to cancel the run or leave it running; a second\nCtrl-C exits.\n',
    )
    .action(
      async (
        agent: string,
        typed: string | undefined,
        options: InvokeOptions,
        invoked: Command,
      ) => {
        const { json = false } = globalOptions(invoked);
        const prompt = await typedPrompt(typed);
        const input = await runInputOf({ prompt, input: options.input });
        const convoke = await connect(invoked);
        if (options.watch === true) {
          const { invokeAgain } = await import('./invoke-again.ts');
          const again = () => start(convoke, { ...options, agent, input });
          return invokeAgain({ convoke, agent, start: again, options, json });
        }
        const run = await start(convoke, { ...options, agent, input });
        if (options.detach === true || !options.wait) return detach(run, json);
        const { stream = false } = options;
        const ended = await followRun(run, { convoke, json, stream, answering: options });
        if (json) return;
        if (ended !== undefined)
          await remarkWrittenFiles(convoke.sessions.at(run.sessionId).files, ended);
        remark(`session ${run.sessionId}, run ${run.id}`, 'dim');
      },
    );
  return addFollowingOptions(command);
}

interface InvokeOptions extends Following {
  readonly session?: string;
  readonly input?: string;
  readonly file?: readonly string[];
  readonly label?: Readonly<Record<string, string>>;
  readonly detach?: true;
  readonly watch?: true;
  /** False with `--no-wait`. */
  readonly wait: boolean;
}

interface Starting extends Pick<InvokeOptions, 'session' | 'file' | 'label'> {
  readonly agent: string;
  readonly input: JsonObject;
}

async function start(convoke: Convoke, starting: Starting): Promise<Run> {
  const { agent, input, session: id, label: labels, file: named = [] } = starting;
  // All files are opened before the first request, so that a mistyped path creates no session.
  const attach = await Promise.all(named.map((text) => openAttachment(text, id)));
  const session =
    id === undefined ? await convoke.sessions.create(agent) : await sessionOf(convoke, id);
  const files: string[] = [];
  for (const attachIn of attach) files.push(await attachIn(session));
  return session.run(input, { labels, ...(files.length > 0 && { files }) });
}

/** Returns a function that attaches the file to a session and returns its id there. */
async function openAttachment(
  text: string,
  sessionId: string | undefined,
): Promise<(session: SessionHandle) => Promise<string>> {
  if (text.startsWith('file_') && isWhole(text)) {
    if (sessionId !== undefined) return async () => text;
    throw new Failure(
      `${text} is a file of a session: pass that session with --session`,
      exitCodes.usage,
    );
  }
  const upload = await openUpload(text);
  return async (session) => (await uploadFile(session, upload)).id;
}

function detach(run: Run, json: boolean): void {
  if (json) return printJson(run.record);
  printFacts({ session: run.sessionId, run: run.id });
  remarkHowToFollow(run);
}
