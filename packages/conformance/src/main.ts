import { writeFile } from 'node:fs/promises';
import manifest from '../package.json' with { type: 'json' };
import { writeAgents } from './agents.ts';
import { NoService, runConformance } from './conformance.ts';
import { convokeDialect } from './dialect.ts';
import { help } from './help.ts';
import { type Options, UsageError, readTask } from './options.ts';
import { junitReport } from './report/junit.ts';
import { reportOf } from './report/report.ts';
import { textReport } from './report/text.ts';
import { requirements } from './requirements/requirements.ts';
import { Secrets } from './secrets.ts';

const { version } = manifest;
const secrets = new Secrets();

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof NoService)) throw error;
  process.stderr.write(`conformance: ${secrets.hide(error.message)}\n`);
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const task = readTask(process.argv.slice(2), process.env);
  switch (task.kind) {
    case 'help':
      return say(help);
    case 'version':
      return say(`${version}\n`);
    case 'list':
      return say(requirements.map(({ id, text }) => `${id.padEnd(24)} ${text}\n`).join(''));
    case 'dialect':
      return say(`${JSON.stringify(convokeDialect, null, 2)}\n`);
    case 'write-agents':
      await writeAgents(task.directory);
      return 0;
    case 'run':
      return await run(task.options);
  }
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

async function run(options: Options): Promise<number> {
  const startedAt = Date.now();
  const results = await runConformance(options, secrets);
  const report = reportOf({ options, results, startedAt, version });
  const json = `${JSON.stringify(report, null, 2)}\n`;
  const forms = [
    { text: textReport(report), path: options.json === '-' ? undefined : '-' },
    { text: json, path: options.json },
    { text: junitReport(report), path: options.junit },
  ];
  for (const { text, path } of forms) {
    const hidden = secrets.hide(text);
    if (path === '-') process.stdout.write(hidden);
    else if (path !== undefined) await writeFile(path, hidden);
  }
  return report.conforming ? 0 : 1;
}
