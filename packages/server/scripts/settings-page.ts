import { markdownPage, markdownTable } from '../../contract/scripts/markdown.ts';
import { settingTable } from '../src/config/setting-table.ts';
import type { Setting } from '../src/config/setting.ts';

/** docs/reference/settings.md: every setting of the server. */
export function settingsPage(): string {
  const rows = Object.entries<Setting>(settingTable).map(([name, setting]) => [
    `\`${name}\``,
    setting.format,
    setting.fallback === '' ? 'none' : `\`${setting.fallback}\``,
    setting.role,
    setting.means,
  ]);
  return markdownPage([
    '# Settings',
    '<!-- Generated from packages/server/src/config by packages/server/scripts/write-settings-page.ts. Do not edit. -->',
    [
      'The server reads its settings from environment variables and nowhere else. A wrong value, or a variable that starts',
      'with `CONVOKE_` and is not in this table, stops the start with one line that names it. (`CONVOKE_CLIENT_*`,',
      '`CONVOKE_NODE` and `CONVOKE_TEST_*` belong to other programs and are ignored.) An empty variable counts as absent.',
    ].join('\n'),
    [
      'Role: which servers use the setting, those with the role `api`, those with the role `worker`, or both. A server has',
      'both roles unless `CONVOKE_ROLE` says otherwise.',
    ].join('\n'),
    markdownTable(['Setting', 'Format', 'Default', 'Role', 'Meaning'], rows),
  ]);
}
