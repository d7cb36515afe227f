// Writes what is generated of the Python client: npm run reference
import { mkdir, writeFile } from 'node:fs/promises';
import { source, wireFiles } from './wire.ts';

await mkdir(new URL('_generated/', source), { recursive: true });
for (const [name, text] of Object.entries(wireFiles())) {
  await writeFile(new URL(name, source), text);
}
