import type { BudgetRecord, ConvokeAdmin } from '@convoke/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { collect } from '../../collect.ts';
import { completeId } from '../../complete-id.ts';
import { exitCodes, Failure } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, organizationOption } from '../../options/options.ts';
import { connectPerson } from '../../sign-in/person.ts';
import { microsOf, moneyText } from '../../terminal/money.ts';
import { print, printJson } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';
import { moment } from '../../terminal/times.ts';

const periods = ['day', 'month', 'total'] as const;

export function budgetsCommand(): Command {
  return new Command('budgets')
    .description('Limit the usage of a tenant, client, agent or session')
    .addCommand(listBudgets(), { isDefault: true })
    .addCommand(setBudget())
    .addCommand(deleteBudget())
    .addHelpText('after', example('budgets set tenant ten_… --period day --max-cost 5.00'));
}

function listBudgets(): Command {
  return new Command('list')
    .description('List budgets and their usage')
    .addHelpText('after', example('budgets list'))
    .addOption(organizationOption())
    .action(async (_options: unknown, command: Command) => {
      const budgets = await collect((await connectPerson(command)).admin.budgets.list());
      if (globalOptions(command).json) return printJson({ budgets });
      printTable(
        ['BUDGET', 'FOR', 'PERIOD', 'TOKENS', 'COST', 'RESETS'],
        budgets.map((budget) => [
          budget.id,
          `${budget.scope.kind} ${budget.scope.id}`,
          budget.period,
          tokensText(budget),
          costText(budget),
          budget.resets_at === undefined ? 'never' : moment(budget.resets_at),
        ]),
      );
    });
}

interface SetOptions {
  readonly period: (typeof periods)[number];
  readonly maxTokens?: number;
  readonly maxCost?: number;
}

function setBudget(): Command {
  return new Command('set')
    .description('Set limits for a scope per day, per month (UTC) or in total')
    .addHelpText('after', example('budgets set agent researcher --period month --max-cost 100'))
    .argument('<kind>', 'tenant, client, agent or session')
    .argument('<id>', 'id, or agent name')
    .addOption(
      new Option('--period <period>', 'period of the limits')
        .choices(periods)
        .makeOptionMandatory(),
    )
    .option('--max-tokens <n>', 'input and output tokens together', readTokens)
    .option(
      '--max-cost <amount>',
      'in the currency of the deployment, such as 2.50; needs a price for every model of the scope',
      readAmount,
    )
    .addOption(organizationOption())
    .action(async (kind: string, id: string, options: SetOptions, command: Command) => {
      if (options.maxTokens === undefined && options.maxCost === undefined) {
        throw new Failure('set a limit: --max-tokens, --max-cost or both', exitCodes.usage);
      }
      const { admin } = await connectPerson(command);
      const scope = { kind: kindOf(kind), id };
      const budget = await admin.budgets.set({
        scope,
        period: options.period,
        max_tokens: options.maxTokens,
        max_cost: options.maxCost,
        version: await versionOf(admin, { scope, period: options.period }),
      });
      if (globalOptions(command).json) return printJson(budget);
      print(`${budget.id}  tokens ${tokensText(budget)}, cost ${costText(budget)}`);
    });
}

function deleteBudget(): Command {
  return new Command('delete')
    .description('Delete a budget and its limits')
    .addHelpText('after', example('budgets delete bud_…'))
    .argument('<budget>')
    .addOption(organizationOption())
    .action(async (typed: string, _options: unknown, command: Command) => {
      const { admin } = await connectPerson(command);
      const id = await completeId(typed, admin.budgets.list());
      await admin.budgets.delete(id);
      if (globalOptions(command).json) return printJson({ deleted: id });
      print(`${id} deleted`);
    });
}

/** The version of the budget that is to be changed; undefined for a new one. */
async function versionOf(
  admin: ConvokeAdmin,
  { scope, period }: Pick<BudgetRecord, 'scope' | 'period'>,
): Promise<number | undefined> {
  for await (const known of admin.budgets.list()) {
    const isSame = known.scope.kind === scope.kind && known.scope.id === scope.id;
    if (isSame && known.period === period) return known.version;
  }
  return undefined;
}

const kinds = ['tenant', 'client', 'agent', 'session'] as const;

function kindOf(text: string): (typeof kinds)[number] {
  const kind = kinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw new Failure(`a budget is for a ${kinds.join(', ')}, not for "${text}"`, exitCodes.usage);
}

function tokensText({ spent, max_tokens: most }: BudgetRecord): string {
  const used = spent.tokens.toLocaleString('en-US');
  return most === undefined ? used : `${used} of ${most.toLocaleString('en-US')}`;
}

function costText({ spent, max_cost: most, currency }: BudgetRecord): string {
  if (most === undefined) return spent.cost === 0 ? '-' : moneyText(spent.cost, undefined);
  return `${moneyText(spent.cost, undefined)} of ${moneyText(most, currency)}`;
}

function readTokens(text: string): number {
  const tokens = Number(text.replaceAll(/[_,]/g, ''));
  if (Number.isSafeInteger(tokens) && tokens >= 1) return tokens;
  throw new InvalidArgumentError('must be a whole number from 1');
}

function readAmount(text: string): number {
  const micros = microsOf(text);
  if (micros !== undefined && micros > 0) return micros;
  throw new InvalidArgumentError('must be an amount such as 2.50, with at most 6 decimals');
}
