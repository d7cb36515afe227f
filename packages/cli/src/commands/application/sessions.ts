import type {
  CreateSessionToken,
  Session,
  SessionHandle,
  SessionRecord,
  SessionStatus,
} from '@convoke/sdk';
import { Command, Option } from 'commander';
import { collect } from '../../collect.ts';
import { sessionOf } from '../../complete-id.ts';
import { globalOptions } from '../../options/global-options.ts';
import { seconds } from '../../options/durations.ts';
import { example, limitOption, repeated } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { print, printJson } from '../../terminal/output.ts';
import { labelsText, printFacts, printTable } from '../../terminal/table.ts';
import { age, moment } from '../../terminal/times.ts';
import { printResult, recordCommands } from '../record-command.ts';
import { printRuns } from './runs.ts';

/** How many of the newest runs `sessions show` shows. */
const runsShown = 5;

interface ListOptions {
  readonly status?: SessionStatus;
  readonly agent?: string;
  readonly label?: readonly string[];
  readonly limit: number;
}

export function sessionsCommand(): Command {
  return new Command('sessions')
    .description('List, show, stop and resume sessions, and create tokens for them')
    .addCommand(listSessions(), { isDefault: true })
    .addCommand(showSession())
    .addCommand(stopSession())
    .addCommand(resumeSession())
    .addCommand(createToken())
    .addHelpText('after', example('sessions --status waiting'));
}

function listSessions(): Command {
  return new Command('list')
    .description('List sessions, newest first')
    .addHelpText('after', example('sessions list --status waiting'))
    .option('--status <status>', 'only sessions with this status')
    .option('--agent <name>', 'only sessions with this agent')
    .option('--label <key:value>', 'only sessions with this label; may be repeated', repeated)
    .addOption(limitOption())
    .action(async ({ status, agent, label, limit }: ListOptions, command: Command) => {
      const convoke = await connect(command);
      const query = { status, agent_name: agent, label };
      const found = await collect(convoke.sessions.list(query), limit);
      const sessions = found.map((session: Session) => session.record);
      if (globalOptions(command).json) return printJson({ sessions });
      printSessions(sessions);
    });
}

/** Labels have a column only if a session has some. */
function printSessions(sessions: readonly SessionRecord[]): void {
  const hasLabels = sessions.some(({ labels }) => labelsText(labels) !== '');
  printTable(
    ['SESSION', 'AGENT', 'STATUS', 'PENDING', 'AGE', 'CHANGED', ...(hasLabels ? ['LABELS'] : [])],
    sessions.map((session) => [
      session.id,
      session.agent_name,
      session.status,
      session.pending_interactions === 0 ? '' : String(session.pending_interactions),
      age(session.created_at),
      age(session.updated_at),
      ...(hasLabels ? [labelsText(session.labels)] : []),
    ]),
  );
}

const sessionCommand = recordCommands({
  group: 'sessions',
  argument: ['<session>', 'id or unique prefix'],
  sample: 'sess_…',
  connect,
  find: sessionOf,
});

const showSession = sessionCommand({
  name: 'show',
  about: 'Show one session with its newest runs',
  call: (_convoke, session) => session.read(),
  print: (record, convoke) => showDetails(convoke.sessions.at(record.id), record),
});

async function showDetails(session: SessionHandle, record: SessionRecord): Promise<void> {
  const { status, status_reason, pending_interactions: pending } = record;
  printFacts({
    session: record.id,
    agent: record.agent_name,
    status: status_reason === undefined ? status : `${status}: ${status_reason}`,
    'current run': record.current_run_id,
    pending: pending === 0 ? undefined : `${pending}; see \`convoke interactions ${record.id}\``,
    labels: labelsText(record.labels),
    files: record.session_files_supported ? 'accepted' : 'not accepted',
    created: moment(record.created_at),
    changed: moment(record.updated_at),
    stopped: record.stopped_at && moment(record.stopped_at),
    ended: record.ended_at && moment(record.ended_at),
    expires: record.expires_at && moment(record.expires_at),
  });
  const runs = await collect(session.runs.list({ limit: runsShown }), runsShown);
  if (runs.length === 0) return;
  print('');
  printRuns(runs.map((run) => run.record));
}

function stopSession(): Command {
  return new Command('stop')
    .description('Cancel the runs and suspend the session; --terminate ends it permanently')
    .addHelpText('after', example('sessions stop sess_… --terminate'))
    .argument('<session>', 'id or unique prefix')
    .addOption(new Option('--terminate', 'end the session; it cannot be resumed'))
    .option('--reason <text>', 'reason, stored with the session')
    .action(
      async (id: string, options: { terminate?: boolean; reason?: string }, command: Command) => {
        const mode = options.terminate === true ? 'terminate' : 'suspend';
        const session = await sessionOf(await connect(command), id);
        await printResult(command, await session.stop({ mode, reason: options.reason }), printLine);
      },
    );
}

const resumeSession = sessionCommand({
  name: 'resume',
  about: 'Resume a stopped session',
  call: (_convoke, session) => session.resume(),
  print: printLine,
});

interface TokenOptions {
  readonly endUser?: string;
  readonly scopes?: CreateSessionToken['scopes'];
  readonly expiresIn?: number;
}

/** D-196: the token alone on standard output, so that a script can store it. */
function createToken(): Command {
  return new Command('token')
    .description('Create a token that opens one session and nothing else, for a page')
    .addHelpText('after', example('sessions token sess_… --end-user user-7'))
    .argument('<session>', 'id or unique prefix')
    .option('--end-user <name>', 'user of your product, for the audit log')
    .option('--scopes <scopes...>', 'fewer scopes than all that a page may have')
    .option('--expires-in <duration>', '1m to 1h; default: 15m', seconds)
    .action(async (id: string, options: TokenOptions, command: Command) => {
      const { endUser: end_user, scopes, expiresIn: expires_in_seconds } = options;
      const session = await sessionOf(await connect(command), id);
      const created = await session.createToken({ end_user, scopes, expires_in_seconds });
      if (globalOptions(command).json) return printJson(created);
      print(created.token);
    });
}

function printLine(session: SessionRecord): void {
  print(`${session.id}  ${session.agent_name}  ${session.status}`);
}
