import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { exitCodes, Failure } from '../failure.ts';
import { report } from '../operating.ts';
import { example } from '../options/options.ts';
import { remark } from '../terminal/output.ts';
import { clearSpinner } from '../terminal/spinner.ts';

const place =
  'the database that CONVOKE_DATA_DIR or CONVOKE_DATABASE_URL names. Files, workspaces and master.key are not in it:\n' +
  'see docs/guides/move-a-deployment.md.\n';

interface ExportOptions {
  readonly output?: string;
}

export function exportCommand(): Command {
  return new Command('export')
    .description(
      'Write every row of the deployment as lines of JSON, to move it to another database',
    )
    .option('--output <file>', 'write there, readable only by you; without it, standard output')
    .addHelpText('after', example('export --output convoke.jsonl'))
    .addHelpText(
      'after',
      `\nReads ${place}` +
        'Servers may run meanwhile: the export is the database at the moment it began, and nothing later. It holds what\n' +
        'the database holds, digests of secrets and sealed keys included: keep it as you keep that.\n',
    )
    .action(async ({ output }: ExportOptions) => {
      if (output === undefined && process.stdout.isTTY) {
        throw new Failure('give --output, or send it on with > or |', exitCodes.usage);
      }
      const { exportDeployment, readConfig } = await import('@convoke/server');
      const text = Readable.from(exportDeployment(readConfig(process.env)));
      clearSpinner();
      const sink =
        output === undefined ? process.stdout : createWriteStream(output, { mode: 0o600 });
      await pipeline(text, sink, { end: output !== undefined });
    });
}

export function importCommand(): Command {
  return new Command('import')
    .description('Fill an empty database with an export: all of it, or nothing')
    .argument('[file]', 'what `convoke export` wrote; without it, standard input')
    .addHelpText('after', example('export | CONVOKE_DATABASE_URL=postgres://… npx convoke import'))
    .addHelpText('after', `\nFills ${place}With --json prints {"tables", "rows"}.\n`)
    .action(async (file: string | undefined, _options: unknown, command: Command) => {
      if (file === undefined && process.stdin.isTTY) {
        throw new Failure('give the file, or send it in with < or |', exitCodes.usage);
      }
      const { importDeployment, readConfig } = await import('@convoke/server');
      const input = file === undefined ? process.stdin : createReadStream(file);
      const imported = await importDeployment(readConfig(process.env), input);
      const { tables, rows } = imported;
      report(command, imported, `imported ${rows} rows of ${tables} tables`);
      remark(
        'Copy master.key, blobs/ and workspaces/ of the old data folder before a server starts.',
      );
    });
}
