import { Command } from 'commander';
import { report } from '../../operating.ts';
import { example } from '../../options/options.ts';
import { loadServer } from '../../server.ts';
import { remark } from '../../terminal/output.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .description('Back up database, files and session folders, even while the server is running')
    .argument('<folder>', 'folder to create, readable only by you')
    .addHelpText('after', example('backup backups/2026-11-17'))
    .addHelpText(
      'after',
      `
Copies what CONVOKE_DATA_DIR has, checks the copy of the database, and reads every other copy again. The folder exists
only when all of it is there; files.sha256 in it has the digests. master.key is not included: keep it elsewhere.
With PostgreSQL use pg_dump: see docs/guides/move-a-deployment.md. How to restore: docs/guides/operate.md.
With --json prints {"folder", "database_bytes", "files", "file_bytes", "left_out"}.
`,
    )
    .action(async (folder: string, _options: unknown, command: Command) => {
      const { backupDeployment, readConfig } = await loadServer();
      process.umask(0o077);
      const made = await backupDeployment(readConfig(process.env), folder);
      const { database_bytes, files, file_bytes, left_out } = made;
      report(
        command,
        made,
        `${made.folder}: database ${megabytes(database_bytes)}, ${files} files ${megabytes(file_bytes)}, checked`,
      );
      for (const what of left_out) remark(`left out: ${what}`);
      remark(
        'master.key is not included: keep a copy elsewhere; the backup is useless without it',
        'dim',
      );
    });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
