// Writes docs/reference from the contract: npm run reference
import { mkdir, writeFile } from 'node:fs/promises';
import { referenceFiles } from './reference.ts';

const folder = new URL('../../../docs/reference/', import.meta.url);

await mkdir(folder, { recursive: true });
for (const [name, text] of Object.entries(referenceFiles())) {
  await writeFile(new URL(name, folder), text);
}
