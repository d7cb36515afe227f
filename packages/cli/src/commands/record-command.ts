import { Command, type Option } from 'commander';
import { globalOptions } from '../options/global-options.ts';
import { example } from '../options/options.ts';
import { printJson } from '../terminal/output.ts';

/** The parts that commands about one record of a group share. */
interface Records<Client, Found> {
  readonly group: string;
  /** Name and description of the argument that names the record. */
  readonly argument: readonly [name: string, description?: string];
  /** An id, for the example of the help. */
  readonly sample: string;
  readonly options?: () => readonly Option[];
  readonly connect: (command: Command) => Promise<Client>;
  /** Completes the word that was typed. */
  readonly find: (client: Client, typed: string) => Promise<Found>;
}

interface RecordCommand<Client, Found, Result> {
  readonly name: string;
  readonly about: string;
  readonly call: (client: Client, found: Found) => Promise<Result>;
  /** Prints the result for a person; with `--json` it is printed as it is. */
  readonly print: (result: Result, client: Client) => void | Promise<void>;
}

/** Returns a maker of commands that connect, find one record, make one call and print its result. */
export function recordCommands<Client, Found>(records: Records<Client, Found>) {
  const { group, argument, sample, options = () => [], connect, find } = records;
  return <Result>(parts: RecordCommand<Client, Found, Result>) =>
    (): Command => {
      const { name, about, call, print } = parts;
      const command = new Command(name)
        .description(about)
        .addHelpText('after', example(`${group} ${name} ${sample}`))
        .argument(...argument);
      for (const option of options()) command.addOption(option);
      return command.action(async (typed: string) => {
        const client = await connect(command);
        const result = await call(client, await find(client, typed));
        await printResult(command, result, (one) => print(one, client));
      });
    };
}

/** Prints a result as JSON if `--json` is given, else for a person. */
export function printResult<Result>(
  command: Command,
  result: Result,
  print: (result: Result) => void | Promise<void>,
): void | Promise<void> {
  return globalOptions(command).json ? printJson(result) : print(result);
}
