// Writes src/generated from the contract: npm run reference
import { mkdir, writeFile } from 'node:fs/promises';
import { formatted } from './format.ts';
import { wireFiles } from './wire.ts';

const folder = new URL('../src/generated/', import.meta.url);

await mkdir(folder, { recursive: true });
for (const [name, text] of Object.entries(wireFiles())) {
  await writeFile(new URL(name, folder), formatted(name, text));
}
