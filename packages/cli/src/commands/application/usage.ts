import type { UsageRecord } from '@convoke/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { collect } from '../../collect.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, organizationOption } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { connectPerson } from '../../sign-in/person.ts';
import { moneyText } from '../../terminal/money.ts';
import { printJson } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';

const groupsOfTenant = ['agent', 'model', 'client', 'session'] as const;
const groupsOfOrganization = ['agent', 'model', 'client', 'tenant'] as const;
const rowsMax = 10_000;

interface UsageOptions {
  readonly by?: string;
  readonly per?: 'hour' | 'day';
  readonly from?: string;
  readonly to?: string;
  readonly organization?: boolean;
}

export function usageCommand(): Command {
  return new Command('usage')
    .description('Show tokens, costs and runs of the tenant, or of the whole organization')
    .option(
      '--by <group>',
      'one row per agent, model, client, session or tenant, or per value of a label (label:<key>)',
    )
    .addOption(new Option('--per <time>', 'one row per').choices(['hour', 'day']))
    .option('--from <time>', 'start day or time (default: 30 days ago)', readTime)
    .option('--to <time>', 'end time (default: now)', readTime)
    .option('--organization', 'across all tenants, as the person who is logged in')
    .addOption(organizationOption())
    .addHelpText('after', example('usage --by model --per day'))
    .action(async (options: UsageOptions, command: Command) => {
      const usage = await collect(await listingOf(options, command), rowsMax);
      if (globalOptions(command).json) return printJson({ usage });
      printUsage(usage, options);
    });
}

async function listingOf({ by, per, from, to, organization }: UsageOptions, command: Command) {
  const range = { bucket: per, from, to, limit: 100 };
  if (organization === true || by === 'tenant') {
    const { admin } = await connectPerson(command);
    return admin.usage.list({ ...range, group_by: one(groupsOfOrganization, by) });
  }
  const convoke = await connect(command);
  return convoke.usage.list({ ...range, group_by: one(groupsOfTenant, by) });
}

function one<Group extends string>(
  known: readonly Group[],
  by: string | undefined,
): Group | `label:${string}` | undefined {
  if (by === undefined) return undefined;
  const found = known.find((group) => group === by);
  if (found !== undefined) return found;
  if (by.startsWith('label:')) return `label:${by.slice('label:'.length)}`;
  const all = `${known.join(', ')} or label:<key>`;
  throw new InvalidArgumentError(`--by ${by} is not available here; use ${all}`);
}

/** A day alone means its start, in UTC. */
function readTime(text: string): string {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError('must be a day or a time, as in 2026-01-15 or 2026-01-15T09:00Z');
}

function printUsage(usage: readonly UsageRecord[], { by, per }: UsageOptions): void {
  const isDaily = by === 'session' || by?.startsWith('label:') === true;
  const hasTime = per !== undefined || isDaily;
  const head = [
    ...(hasTime ? [per === 'hour' ? 'HOUR' : 'DAY'] : []),
    ...(by === undefined ? [] : [by.toUpperCase()]),
    ...(by === 'model' ? [] : ['RUNS', 'FAILED']),
    'INPUT',
    'CACHED',
    'OUTPUT',
    'COST',
  ];
  printTable(
    head,
    usage.map((row) => [
      ...(hasTime ? [(row.start ?? '').slice(0, per === 'hour' ? 16 : 10).replace('T', ' ')] : []),
      ...(by === undefined ? [] : [row.group === '' ? '-' : (row.group ?? '-')]),
      ...(by === 'model' ? [] : [numberText(row.runs), numberText(row.failed)]),
      numberText(row.input_tokens),
      numberText(row.cached_input_tokens),
      numberText(row.output_tokens),
      row.cost === undefined ? '-' : moneyText(row.cost, row.currency),
    ]),
  );
}

function numberText(value: number | undefined): string {
  return value === undefined ? '-' : value.toLocaleString('en-US');
}
