import { printable } from '@convoke/faces/printable';
import type { RuleDocumentRecord, RuleTrialSoFar } from '@convoke/sdk';
import { Command } from 'commander';
import { exitCodes, Failure } from '../../failure.ts';
import { seconds } from '../../options/durations.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, organizationOption } from '../../options/options.ts';
import { connectPerson } from '../../sign-in/person.ts';
import { askToConfirm } from '../../terminal/confirm.ts';
import { forOutput, oneLine, print, printJson, remark } from '../../terminal/output.ts';
import { differenceOf } from './rules/difference.ts';
import { readRulesFile, yamlOf } from './rules/file.ts';
import { printTrial } from './rules/trial.ts';

export function rulesCommand(): Command {
  return new Command('rules')
    .description('Say which tool calls are allowed, asked about or denied')
    .addCommand(showRules(), { isDefault: true })
    .addCommand(tryRules())
    .addCommand(setRules())
    .addHelpText('after', example('rules > rules.yaml'));
}

function showRules(): Command {
  return new Command('show')
    .description('Print the rules of the organization as YAML, for a file')
    .addHelpText('after', example('rules show > rules.yaml'))
    .addOption(organizationOption())
    .action(async (_options: unknown, command: Command) => {
      const document = await (await connectPerson(command)).admin.rules.get();
      if (globalOptions(command).json) return printJson(document);
      print(forOutput(await yamlOf({ rules: document.rules })).trimEnd());
      remarkWarnings(document);
    });
}

function tryRules(): Command {
  return new Command('try')
    .description(
      'Show what the rules of a file would have decided about past calls; writes nothing',
    )
    .addHelpText('after', example('rules try rules.yaml --since 7d'))
    .argument('<file>', 'YAML or JSON with the key `rules`')
    .option('--since <time>', 'runs of the last 24h or 7d', seconds)
    .option('--tenant <id>', 'only calls of this tenant')
    .addOption(organizationOption())
    .action(async (file: string, options: TryOptions, command: Command) => {
      const rules = await readRulesFile(file);
      const { admin } = await connectPerson(command);
      const draft = { rules, since: timeBefore(options.since), tenant_id: options.tenant };
      let trial: RuleTrialSoFar | undefined;
      for await (const found of admin.rules.tryAll(draft)) trial = found;
      if (trial === undefined) return;
      if (globalOptions(command).json) return printJson(trial);
      printTrial(trial);
    });
}

interface TryOptions {
  readonly since?: number;
  readonly tenant?: string;
}

function timeBefore(ago: number | undefined): string | undefined {
  return ago === undefined ? undefined : new Date(Date.now() - ago * 1000).toISOString();
}

function setRules(): Command {
  return new Command('set')
    .description(
      'Replace the rules of the organization by those of a file, after showing the difference',
    )
    .addHelpText('after', example('rules set rules.yaml'))
    .argument('<file>', 'YAML or JSON with the key `rules`')
    .option('--yes', 'do not ask')
    .addOption(organizationOption())
    .action(async (file: string, options: { readonly yes?: true }, command: Command) => {
      const rules = await readRulesFile(file);
      const { admin } = await connectPerson(command);
      const current = await admin.rules.get();
      const difference = await differenceOf(current.rules, rules);
      for (const { text, style } of difference) remark(printable(text), style);
      if (difference.length > 0 && options.yes !== true) await confirm();
      // An equal list changes nothing, and the server still checks it.
      const written = await admin.rules.set({ version: current.version, rules });
      if (globalOptions(command).json) return printJson(written);
      const isChanged = written.version !== current.version;
      print(isChanged ? `version ${written.version}` : `version ${written.version}, unchanged`);
      remarkWarnings(written);
    });
}

async function confirm(): Promise<void> {
  if (await askToConfirm('Replace the rules? [y]es or [n]o: ')) return;
  throw new Failure('nothing was changed', exitCodes.failed);
}

function remarkWarnings({ warnings }: RuleDocumentRecord): void {
  for (const { rule, message } of warnings) remark(oneLine(`${rule}: ${message}`), 'yellow');
}
