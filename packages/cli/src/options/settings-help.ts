import { createRequire } from 'node:module';
import type * as serverConfig from '@convoke/server/config';
import { problemWithNode } from '../server.ts';

/**
 * Renders the environment variables for `--help`. Commander needs the text synchronously, hence `require`, which
 * loads the table only when the help is shown.
 */
export function settingsHelp(): string {
  const problem = problemWithNode(process.versions.node);
  if (problem !== undefined) return `\n${problem}\n`;
  const { settingTable } = createRequire(import.meta.url)(
    '@convoke/server/config',
  ) as typeof serverConfig;
  const names = Object.keys(settingTable);
  const width = Math.max(...names.map((name) => name.length));
  const lines = Object.entries(settingTable).map(([name, { fallback, means }]) => {
    const preset = fallback === '' ? '' : ` [${fallback}]`;
    return `  ${name.padEnd(width)}  ${means}${preset}`;
  });
  return `\nSettings (environment variables):\n${lines.join('\n')}\n`;
}
