// D-232: our server passes the kit on both databases with its default limits, killed and started again in between. Most
// of that time the kit waits for the rate of changes, on both at once.
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { textOf } from '../../../test/repository.ts';
import { databaseKinds } from '../../server/test/support/databases.ts';
import { requirements } from '../src/requirements/requirements.ts';
import { idsWith, readReport, runKit } from './kit-process.ts';
import { startRestartable } from './restartable-server.ts';

test.concurrent.each(databaseKinds)(
  'Convoke on %s conforms, also over a restart',
  { timeout: 1_200_000 },
  async (kind) => {
    const folder = await mkdtemp(join(tmpdir(), 'convoke-conformance-'));
    const server = await startRestartable(kind);
    try {
      const [json, junit] = [join(folder, 'report.json'), join(folder, 'report.xml')];
      const forms = ['--json', json, '--junit', junit];
      const options = [...server.options, '--level', 'convoke', '--time-limit', '540', ...forms];
      const { status, stdout, stderr } = await runKit(options, server.env);
      // The report shows what failed.
      expect(`${stderr}${status === 0 ? '' : stdout}`).toBe('');
      expect(status).toBe(0);
      const report = await readReport(json);
      const invisible = requirements.filter(({ visible }) => visible === 'no').map(({ id }) => id);
      expect(idsWith(report, 'not exercised')).toEqual(invisible);
      expect(idsWith(report, 'not applicable')).toEqual([]);
      expect(idsWith(report, 'warning')).toEqual([]);
      const [counts = ''] = /^\d+ pass, .*$/m.exec(stdout) ?? [];
      expect(textOf('docs/guides/conformance.md')).toContain(`${counts}\nConforming\n`);
      const texts = [stdout, JSON.stringify(report), await readFile(junit, 'utf8')];
      for (const text of texts)
        for (const secret of server.secrets) expect(text).not.toContain(secret);
    } finally {
      await server.close();
      await removeFolder(folder);
    }
  },
);
