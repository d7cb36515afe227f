// Writes the pages of /docs as files for any web server: npm run build:docs
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openApiDocument } from '@convoke/contract';
import manifest from '../package.json' with { type: 'json' };
import { allGuides, createDocs } from '../src/api-page.ts';
import { staticSite } from '../src/static-site.ts';

/** Replaces the folder; returns how many files it has then. */
export async function writeSite(folder: string): Promise<number> {
  const document = openApiDocument({ version: manifest.version });
  const site = staticSite(createDocs(document, allGuides()), document);
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of site) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return site.size;
}
