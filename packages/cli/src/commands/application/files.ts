import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { collect } from '../../collect.ts';
import { completeId, sessionOf } from '../../complete-id.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, limitOption } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { forOutput, print, printJson, remark } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';
import { clearSpinner } from '../../terminal/spinner.ts';
import { age } from '../../terminal/times.ts';
import { openUpload, uploadFile } from '../../upload-file.ts';

export function filesCommand(): Command {
  return new Command('files')
    .description('Upload, list, download and remove files of a session')
    .addCommand(listFiles(), { isDefault: true })
    .addCommand(putFile())
    .addCommand(getFile())
    .addCommand(removeFile())
    .addHelpText('after', example('files put sess_… report.pdf'));
}

function listFiles(): Command {
  return new Command('ls')
    .description('List the files of a session')
    .addHelpText('after', example('files ls sess_…'))
    .argument('<session>')
    .addOption(limitOption())
    .action(async (id: string, { limit }: { limit: number }, command: Command) => {
      const session = await sessionOf(await connect(command), id);
      const files = await collect(session.files.list(), limit);
      if (globalOptions(command).json) return printJson({ files });
      printTable(
        ['FILE', 'STATUS', 'BYTES', 'AGE', 'NAME'],
        files.map((file) => [
          file.id,
          file.status,
          String(file.size_bytes ?? ''),
          age(file.created_at),
          file.name,
        ]),
      );
    });
}

function putFile(): Command {
  return new Command('put')
    .description('Upload a file into a session')
    .addHelpText('after', example('files put sess_… report.pdf'))
    .argument('<session>')
    .argument('<path>')
    .option('--name <name>', 'name of the file in the session')
    .action(async (id: string, path: string, options: { name?: string }, command: Command) => {
      const session = await sessionOf(await connect(command), id);
      const file = await uploadFile(session, await openUpload(path), options.name);
      if (globalOptions(command).json) return printJson(file);
      print(forOutput(`${file.id}  ${file.name}`));
    });
}

function getFile(): Command {
  return new Command('get')
    .description('Download a file to standard output or --output')
    .addHelpText('after', example('files get sess_… file_… -o report.pdf'))
    .argument('<session>')
    .argument('<file>')
    .option('-o, --output <path>', 'write to this path')
    .action(async (id: string, file: string, options: { output?: string }, command: Command) => {
      const { files } = await sessionOf(await connect(command), id);
      const response = await files.download(await completeId(file, files.list()));
      const target =
        options.output === undefined ? process.stdout : createWriteStream(options.output);
      if (response.body === null) return;
      clearSpinner();
      await pipeline(Readable.fromWeb(response.body), target, { end: target !== process.stdout });
      if (options.output === undefined) return;
      if (globalOptions(command).json) return printJson({ id: file, path: options.output });
      remark(`written to ${options.output}`);
    });
}

function removeFile(): Command {
  return new Command('rm')
    .description('Remove a file from a session')
    .addHelpText('after', example('files rm sess_… file_…'))
    .argument('<session>')
    .argument('<file>')
    .action(async (id: string, file: string, _options: unknown, command: Command) => {
      const { files } = await sessionOf(await connect(command), id);
      const whole = await completeId(file, files.list());
      await files.delete(whole);
      if (globalOptions(command).json) return printJson({ id: whole, deleted: true });
      print(`${whole} removed`);
    });
}
