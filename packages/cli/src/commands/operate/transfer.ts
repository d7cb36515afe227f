import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { exitCodes, Failure } from '../../failure.ts';
import { report } from '../../operating.ts';
import { example } from '../../options/options.ts';
import { loadServer } from '../../server.ts';
import { remark } from '../../terminal/output.ts';
import { clearSpinner } from '../../terminal/spinner.ts';

const databaseHelp =
  'the database set by CONVOKE_DATA_DIR or CONVOKE_DATABASE_URL. Files, session folders and master.key are not included:\n' +
  'see docs/guides/move-a-deployment.md.\n';

interface ExportOptions {
  readonly output?: string;
  readonly whileRunning?: true;
}

export function exportCommand(): Command {
  return new Command('export')
    .description('Export every row of the deployment as JSON lines, to move it to another database')
    .option('--output <file>', 'write to this file, readable only by you; default: standard output')
    .option(
      '--while-running',
      'export even though servers are using the database; later writes are missing',
    )
    .addHelpText('after', example('export --output convoke.jsonl'))
    .addHelpText(
      'after',
      `\nReads ${databaseHelp}` +
        'Stop the servers first. With --while-running the export is a snapshot of the database from its start. It\n' +
        'contains everything in the database, including digests of secrets and sealed keys: protect it like the database.\n',
    )
    .action(async ({ output, whileRunning }: ExportOptions) => {
      if (output === undefined && process.stdout.isTTY) {
        throw new Failure('use --output, or redirect standard output with > or |', exitCodes.usage);
      }
      const { describeWriters, exportDeployment, readConfig } = await loadServer();
      const config = readConfig(process.env);
      const writers = whileRunning === true ? undefined : await describeWriters(config);
      if (writers !== undefined) {
        throw new Failure(
          `${writers}; later writes would be missing from the export. Stop all servers first, or add --while-running to take a snapshot now`,
        );
      }
      const text = Readable.from(exportDeployment(config));
      clearSpinner();
      const sink =
        output === undefined ? process.stdout : createWriteStream(output, { mode: 0o600 });
      await pipeline(text, sink, { end: output !== undefined });
    });
}

export function importCommand(): Command {
  return new Command('import')
    .description('Import an export into an empty database: all rows or none')
    .argument('[file]', 'output of `convoke export`; default: standard input')
    .addHelpText('after', example('export | CONVOKE_DATABASE_URL=postgres://… npx convoke import'))
    .addHelpText('after', `\nWrites to ${databaseHelp}With --json prints {"tables", "rows"}.\n`)
    .action(async (file: string | undefined, _options: unknown, command: Command) => {
      if (file === undefined && process.stdin.isTTY) {
        throw new Failure('pass a file, or redirect standard input with < or |', exitCodes.usage);
      }
      const { importDeployment, readConfig } = await loadServer();
      const input = file === undefined ? process.stdin : createReadStream(file);
      const imported = await importDeployment(readConfig(process.env), input);
      const { tables, rows } = imported;
      report(command, imported, `imported ${rows} rows of ${tables} tables`);
      remark(
        'Before a server starts, copy master.key, blobs/ and workspaces/ from the old data folder.',
      );
    });
}
