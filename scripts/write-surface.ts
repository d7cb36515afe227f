import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { surfaces } from './surface.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const [path, make] of Object.entries(surfaces)) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), await make());
}
