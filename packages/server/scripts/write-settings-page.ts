// Writes docs/reference/settings.md: npm run reference
import { writeFile } from 'node:fs/promises';
import { settingsPage } from './settings-page.ts';

const page = new URL('../../../docs/reference/settings.md', import.meta.url);

await writeFile(page, settingsPage());
