import { Command } from 'commander';
import { Failure } from '../../failure.ts';
import { report } from '../../operating.ts';
import { example } from '../../options/options.ts';
import { loadServer } from '../../server.ts';
import { remark } from '../../terminal/output.ts';

interface MigrateOptions {
  readonly check?: boolean;
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Migrate the database to this release; older servers may keep running')
    .option('--check', 'change nothing; exit with 1 unless the schema matches this release')
    .addHelpText('after', example('migrate --check'))
    .addHelpText(
      'after',
      '\nA server also migrates when it starts. Works on the database that CONVOKE_DATA_DIR or\n' +
        'CONVOKE_DATABASE_URL names. With --json prints {"version", "known", "applied", "pending"}.\n',
    )
    .action(async ({ check }: MigrateOptions, command: Command) => {
      const { examineSchema, migrateSchema, readConfig } = await loadServer();
      const config = readConfig(process.env);
      const applied: string[] = [];
      const onApplied = (name: string) => {
        remark(`applied ${name}`);
        applied.push(name);
      };
      const state = await (check === true
        ? examineSchema(config)
        : migrateSchema(config, onApplied));
      const { version, known, pending } = state;
      const isCurrent = version === known;
      if (isCurrent) {
        const text = applied.length === 0 ? 'nothing to do' : `${applied.length} applied`;
        return report(command, { ...state, applied }, `schema ${version}: ${text}`);
      }
      const text = pending.map((name) => `pending ${name}`).join('\n') || 'newer than this release';
      report(command, { ...state, applied }, text);
      throw new Failure(
        version > known
          ? `the database has schema ${version}, but this release supports only ${known}; use a newer release`
          : `the database has schema ${version}, but this release needs ${known}; run \`convoke migrate\``,
      );
    });
}
