import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from '../checkout/compile.mjs';
import manifest from '../package.json' with { type: 'json' };
import { rewriteDeclarations, writeManifest } from './built-files.ts';

const home = fileURLToPath(new URL('..', import.meta.url));

/** Builds the published package into a folder. */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  // The core is compiled without the types of Node: what browsers lack does not compile.
  compile('tsconfig.build.json', folder, 'inherit');
  compile('tsconfig.build-node.json', folder, 'inherit');
  await rewriteDeclarations(folder);
  await writeManifest(folder, published());
  await copyFile(join(home, 'README.md'), join(folder, 'README.md'));
}

function published() {
  const { name, version, description, license, type, sideEffects, engines } = manifest;
  return {
    name,
    version,
    description,
    license,
    type,
    sideEffects,
    engines,
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './ai-sdk': { types: './ai-sdk.d.ts', default: './ai-sdk.js' },
      './node': { types: './node.d.ts', default: './node.js' },
    },
    types: './index.d.ts',
  };
}
