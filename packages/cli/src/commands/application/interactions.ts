import type {
  Answer,
  InteractionFilter,
  InteractionRecord,
  JsonObject,
  SessionHandle,
} from '@convoke/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { collect } from '../../collect.ts';
import { completeId, sessionOf } from '../../complete-id.ts';
import { exitCodes, Failure } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, limitOption } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { print, printJson } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';
import { age } from '../../terminal/times.ts';

export function interactionsCommand(): Command {
  return new Command('interactions')
    .description('List pending interactions of a session, and answer them')
    .addCommand(listInteractions(), { isDefault: true })
    .addCommand(answerInteraction())
    .addCommand(forgetInteraction())
    .addHelpText('after', example('interactions answer sess_… int_… --allow'));
}

function listInteractions(): Command {
  return new Command('list')
    .description('List interactions, newest first')
    .addHelpText('after', example('interactions list sess_… --status all'))
    .argument('<session>')
    .option('--status <status>', 'pending, answered, expired, cancelled or all', 'pending')
    .addOption(limitOption())
    .action(
      async (
        id: string,
        options: { status: InteractionFilter; limit: number },
        command: Command,
      ) => {
        const { status, limit } = options;
        const session = await sessionOf(await connect(command), id);
        const interactions = await collect(session.interactions.list({ status }), limit);
        if (globalOptions(command).json) return printJson({ interactions });
        printTable(
          ['KEY', 'KIND', 'STATUS', 'AGE', 'WHAT'],
          interactions.map((item) => [
            item.interaction_key,
            item.kind,
            item.status,
            age(item.created_at),
            whatOf(item),
          ]),
        );
      },
    );
}

interface AnswerOptions {
  readonly allow?: boolean;
  readonly deny?: boolean;
  readonly answer?: string[];
  readonly decline?: boolean;
  readonly message?: string;
  readonly input?: JsonObject;
  readonly remember?: 'exact' | 'tool';
}

function answerInteraction(): Command {
  return new Command('answer')
    .description(
      'Answer an interaction: --allow or --deny a tool call, --answer or --decline a question',
    )
    .addHelpText('after', example('interactions answer sess_… int_… --answer Captain'))
    .argument('<session>')
    .argument('<key>', 'interaction_key, int_…')
    .option('--allow', 'allow the tool call with exactly the input shown')
    .addOption(
      new Option(
        '--remember <width>',
        'with --allow: for the rest of the session, with this input only or with every input',
      ).choices(['exact', 'tool']),
    )
    .option('--deny', 'deny the tool call')
    .option('--answer <text...>', 'the answer; several if the question allows it')
    .option('--decline', 'decline to answer')
    .option('--message <text>', 'message to the agent')
    .option('--input <json>', 'with --allow: call the tool with this input instead', readInput)
    .action(async (id: string, key: string, options: AnswerOptions, command: Command) => {
      const answer = answerOf(options);
      const session = await sessionOf(await connect(command), id);
      const whole = await completeId(key, pendingKeys(session));
      const answered = await session.interactions.answer(whole, answer);
      if (globalOptions(command).json) return printJson(answered);
      print(`${answered.interaction_key}  ${answered.status}${remaining(answered)}`);
    });
}

function forgetInteraction(): Command {
  return new Command('forget')
    .description('Forget an allow that the session remembers: its calls are asked about again')
    .addHelpText('after', example('interactions forget sess_… int_…'))
    .argument('<session>')
    .argument('<key>', 'interaction_key, int_…')
    .action(async (id: string, key: string, _: object, command: Command) => {
      const session = await sessionOf(await connect(command), id);
      const whole = await completeId(key, rememberedKeys(session));
      await session.interactions.forget(whole);
      if (!globalOptions(command).json) print(`${whole}  forgotten`);
    });
}

async function* rememberedKeys({ interactions }: SessionHandle): AsyncGenerator<{ id: string }> {
  const listed = interactions.list({ status: 'answered', remembered: true });
  for await (const { interaction_key: id } of listed) yield { id };
}

async function* pendingKeys({ interactions }: SessionHandle): AsyncGenerator<{ id: string }> {
  for await (const { interaction_key: id } of interactions.pending()) yield { id };
}

/** Of a call that more than one person has to allow. */
function remaining({ status, approvals, approvers }: InteractionRecord): string {
  if (status !== 'pending' || approvals === undefined) return '';
  return `  ${approvals.length} of ${approvers?.people ?? 1} people have allowed it`;
}

function readInput(text: string): JsonObject {
  try {
    const input: unknown = JSON.parse(text);
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
      return input as JsonObject;
    }
  } catch {
    // Answered below.
  }
  throw new InvalidArgumentError('must be a JSON object');
}

function answerOf(options: AnswerOptions): Answer {
  const { allow, deny, answer, decline, message, input, remember } = options;
  const given = [allow, deny, answer, decline].filter((option) => option !== undefined);
  if (given.length !== 1) {
    throw new Failure(
      'use exactly one of --allow, --deny, --answer and --decline',
      exitCodes.usage,
    );
  }
  const said = message === undefined ? {} : { message };
  if (input !== undefined && allow !== true) {
    throw new Failure('--input requires --allow', exitCodes.usage);
  }
  if (remember !== undefined && allow !== true) {
    throw new Failure('--remember requires --allow', exitCodes.usage);
  }
  const changed = {
    ...(input !== undefined && { updated_input: input }),
    ...(remember !== undefined && { remember }),
  };
  if (allow === true) return { decision: 'allow', ...said, ...changed };
  if (deny === true) return { decision: 'deny', ...said };
  if (answer !== undefined) return { answer: answer.length === 1 ? (answer[0] ?? '') : answer };
  return { declined: true, ...said };
}

function whatOf({ question, tool_name, tool_input }: InteractionRecord): string {
  return question ?? `${tool_name ?? ''} ${JSON.stringify(tool_input)}`;
}
