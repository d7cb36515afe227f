import type {
  Convoke,
  JsonObject,
  MissedPolicy,
  OverlapPolicy,
  ScheduleRecord,
  ScheduleStatus,
} from '@convoke/sdk';
import { Command, Option } from 'commander';
import { collect } from '../../collect.ts';
import { completeId } from '../../complete-id.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, limitOption, readLabels } from '../../options/options.ts';
import { inputOption, runInputOf } from '../../options/run-input.ts';
import { connect } from '../../sign-in/connection.ts';
import { forOutput, print, printJson } from '../../terminal/output.ts';
import { labelsText, printFacts, printTable } from '../../terminal/table.ts';
import { age, moment } from '../../terminal/times.ts';
import { printResult, recordCommands } from '../record-command.ts';

/** How many coming slots `schedules show` shows. */
const slotsShown = 3;

export function schedulesCommand(): Command {
  return new Command('schedules')
    .description('Start runs on a cron schedule')
    .addCommand(listSchedules(), { isDefault: true })
    .addCommand(createSchedule())
    .addCommand(showSchedule())
    .addCommand(updateSchedule())
    .addCommand(pauseSchedule())
    .addCommand(resumeSchedule())
    .addCommand(runSchedule())
    .addCommand(listFires())
    .addCommand(deleteSchedule())
    .addHelpText('after', example('schedules create demo "Report." --cron "0 9 * * 1-5"'));
}

function listSchedules(): Command {
  return new Command('list')
    .description('List schedules, newest first')
    .addHelpText('after', example('schedules list --status paused'))
    .option('--status <status>', 'only active or only paused schedules')
    .option('--agent <name>', 'only schedules of this agent')
    .addOption(limitOption())
    .action(
      async (
        options: { status?: ScheduleStatus; agent?: string; limit: number },
        command: Command,
      ) => {
        const { status, agent, limit } = options;
        const convoke = await connect(command);
        const schedules = await collect(
          convoke.schedules.list({ status, agent_name: agent }),
          limit,
        );
        if (globalOptions(command).json) return printJson({ schedules });
        printTable(
          ['SCHEDULE', 'AGENT', 'STATUS', 'CRON', 'TIME ZONE', 'NEXT', 'NAME'],
          schedules.map((schedule) => [
            schedule.id,
            schedule.agent_name,
            schedule.status,
            schedule.cron,
            schedule.time_zone,
            schedule.next_at === undefined ? '' : moment(schedule.next_at),
            schedule.name,
          ]),
        );
      },
    );
}

interface PlanOptions {
  readonly name?: string;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly overlap?: OverlapPolicy;
  readonly missed?: MissedPolicy;
  readonly label?: Readonly<Record<string, string>>;
}

interface NewPlanOptions extends PlanOptions {
  readonly cron: string;
  readonly input?: string;
  readonly keep?: boolean;
  readonly session?: string;
  readonly endUser?: string;
}

interface ChangeOptions extends PlanOptions {
  readonly prompt?: string;
  readonly input?: string;
}

const labelText = 'label of every run; may be repeated';

function overlapOption(): Option {
  return new Option('--overlap <policy>', 'if the last run has not ended').choices([
    'skip',
    'queue',
  ]);
}

function missedOption(): Option {
  return new Option('--missed <policy>', 'after missed slots: start one run or none').choices([
    'once',
    'skip',
  ]);
}

function planOf({ timeZone, name, cron, overlap, missed, label }: PlanOptions) {
  return { name, cron, time_zone: timeZone, overlap, missed, labels: label };
}

function createSchedule(): Command {
  return new Command('create')
    .description('Create a schedule for an agent')
    .addHelpText(
      'after',
      example('schedules create demo "Report." --cron "0 9 * * 1-5" --time-zone Europe/Berlin'),
    )
    .argument('<agent>')
    .argument('[prompt]')
    .addOption(inputOption())
    .requiredOption('--cron <pattern>', 'minute, hour, day of the month, month, day of the week')
    .option('--time-zone <zone>', 'IANA time zone of the pattern', 'UTC')
    .option('--name <name>', 'name (default: the prompt, or the input)')
    .option('--keep', 'use one session for all runs instead of a new one for each')
    .option('--session <id>', 'use this session for all runs')
    .option('--end-user <name>', 'user of your product that its sessions are for')
    .option('--label <key:value>', labelText, readLabels)
    .addOption(overlapOption())
    .addOption(missedOption())
    .action(
      async (
        agent: string,
        prompt: string | undefined,
        options: NewPlanOptions,
        command: Command,
      ) => {
        const input = await runInputOf({ prompt, input: options.input });
        const about = prompt ?? JSON.stringify(input);
        const { keep = false, session, name = about.slice(0, 80), cron, endUser } = options;
        const isKept = keep || session !== undefined;
        const convoke = await connect(command);
        const schedule = await convoke.schedules.create({
          ...planOf(options),
          name,
          cron,
          agent_name: agent,
          end_user: endUser,
          input,
          session: isKept ? { mode: 'keep', session_id: session } : { mode: 'new' },
        });
        await printResult(command, schedule, printLine);
      },
    );
}

const scheduleCommand = recordCommands({
  group: 'schedules',
  argument: ['<schedule>', 'id or unique prefix'],
  sample: 'sch_…',
  connect,
  find: idOf,
});

const showSchedule = scheduleCommand({
  name: 'show',
  about: 'Show one schedule with its next slots',
  call: (convoke, id) => convoke.schedules.get(id),
  async print(schedule, convoke) {
    const next = await convoke.schedules.preview(schedule.id, { count: slotsShown });
    const { session, status, status_reason: reason } = schedule;
    printFacts({
      schedule: schedule.id,
      name: schedule.name,
      agent: schedule.agent_name,
      'end user': schedule.end_user,
      cron: `${schedule.cron} (${schedule.time_zone})`,
      status: reason === undefined ? status : `${status}: ${reason}`,
      next: status === 'active' ? next.map((slot) => moment(slot)).join(', ') : undefined,
      session: session.mode === 'new' ? 'a new one for each run' : (session.session_id ?? 'kept'),
      labels: labelsText(schedule.labels),
      overlap: schedule.overlap,
      missed: `${schedule.missed}, within ${schedule.missed_within_seconds} s`,
      'last slot': schedule.last_slot_at && moment(schedule.last_slot_at),
      'last run': schedule.last_run_id,
      version: String(schedule.version),
      created: `${moment(schedule.created_at)} by ${schedule.created_by_name ?? schedule.created_by}`,
      input: JSON.stringify(schedule.input),
    });
  },
});

function updateSchedule(): Command {
  return new Command('update')
    .description('Change a schedule')
    .addHelpText('after', example('schedules update sch_… --cron "0 8 * * *"'))
    .argument('<schedule>', 'id or unique prefix')
    .option('--name <name>', 'new name')
    .option('--cron <pattern>', 'new pattern')
    .option('--time-zone <zone>', 'new time zone')
    .option('--prompt <text>', 'new prompt')
    .option('--input <json>', 'new input, instead of all of the old one: a JSON object, or @FILE')
    .option('--label <key:value>', labelText, readLabels)
    .addOption(overlapOption())
    .addOption(missedOption())
    .action(async (typed: string, options: ChangeOptions, command: Command) => {
      const convoke = await connect(command);
      const schedule = await convoke.schedules.get(await idOf(convoke, typed));
      const { id, version } = schedule;
      const input = await changedInput(schedule, options);
      await printResult(
        command,
        await convoke.schedules.update(id, { version, ...planOf(options), input }),
        printLine,
      );
    });
}

/** Undefined: the input stays. */
async function changedInput(
  { input: old }: ScheduleRecord,
  { prompt, input }: ChangeOptions,
): Promise<JsonObject | undefined> {
  if (input !== undefined) return runInputOf({ prompt, input });
  return prompt === undefined ? undefined : { ...old, prompt };
}

const pauseSchedule = scheduleCommand({
  name: 'pause',
  about: 'Pause a schedule until it is resumed',
  call: (convoke, id) => convoke.schedules.pause(id),
  print: printLine,
});

const resumeSchedule = scheduleCommand({
  name: 'resume',
  about: 'Resume a paused schedule',
  call: (convoke, id) => convoke.schedules.resume(id),
  print: printLine,
});

const runSchedule = scheduleCommand({
  name: 'run',
  about: 'Start a run now, outside the schedule',
  call: async (convoke, id) => (await convoke.schedules.run(id)).record,
  print: (run) => print(`${run.id}  ${run.session_id}  ${run.status}`),
});

function listFires(): Command {
  return new Command('fires')
    .description('List past slots with their outcome, newest first')
    .addHelpText('after', example('schedules fires sch_…'))
    .argument('<schedule>', 'id or unique prefix')
    .addOption(limitOption())
    .action(async (typed: string, { limit }: { limit: number }, command: Command) => {
      const convoke = await connect(command);
      const fires = await collect(convoke.schedules.fires(await idOf(convoke, typed)), limit);
      if (globalOptions(command).json) return printJson({ fires });
      printTable(
        ['SLOT', 'OUTCOME', 'CODE', 'AGE', 'RUN'],
        fires.map((fire) => [
          moment(fire.slot_at),
          fire.outcome,
          fire.code ?? '',
          age(fire.fired_at),
          fire.run_id ?? '',
        ]),
      );
    });
}

const deleteSchedule = scheduleCommand({
  name: 'delete',
  about: 'Delete a schedule; its runs and sessions stay',
  call: async (convoke, id) => {
    await convoke.schedules.delete(id);
    return { id, deleted: true };
  },
  print: ({ id }) => print(`${id}  deleted`),
});

function idOf(convoke: Convoke, typed: string): Promise<string> {
  return completeId(typed, convoke.schedules.list({ limit: 100 }));
}

function printLine(schedule: ScheduleRecord): void {
  const next = schedule.next_at === undefined ? '' : `  next ${moment(schedule.next_at)}`;
  print(forOutput(`${schedule.id}  ${schedule.status}  ${schedule.name}${next}`));
}
