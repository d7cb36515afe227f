// Builds the page application into one folder: hashed files, each also compressed, so that the server only reads them.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { designTokens } from '@convoke/contract';
import { type Plugin, build } from 'vite';
import { builtFolder } from './built-folder.ts';

const home = fileURLToPath(new URL('..', import.meta.url));

/** All parts but those of requests and conversations, and what rows and several screens say. */
const sharedParts =
  /console\/src\/(?:data\/(ask|roles|run-rows|usage)\.|screens\/(list-screen|secret-once)\.|session\/(actors|live)\.|parts\/(?!ask\/|input\/|(answering|composer|conversation|followed-log|json-tree|markdown|stop-run|waterfall)\.))/;

/** Builds into `folder`, which is emptied first. Takes a second or two. */
export async function buildConsole(folder: string = builtFolder): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'warn',
    root: join(home, 'src'),
    base: '/console/',
    publicDir: false,
    plugins: [tokens],
    // Never the development form, which carries the paths of this machine: tests build with another NODE_ENV.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    // Inside a checkout the SDK chooses its sources at run time; a bundler needs them by name.
    resolve: { alias: { '@convoke/sdk': join(home, '../sdk/src/index.ts') } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      // The polyfill would be an inline script, which the policy of the page refuses.
      modulePreload: { polyfill: false },
      cssCodeSplit: false,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        output: {
          // Parts that most screens share are one file: a screen is then two requests, not twelve. What only a
          // conversation needs is another one, which the first screen does not load. The small screens of the
          // organization are one file: together they compress better.
          codeSplitting: {
            groups: [
              { name: 'parts', test: sharedParts, priority: 2 },
              { name: 'talk', test: /console\/src\/parts\//, priority: 1 },
              { name: 'organization', test: /screens\/organization\// },
            ],
          },
        },
      },
    },
  });
  await compressAll(folder);
}

/** Puts the colours and measures that all pages share into the style of this one. */
const tokens: Plugin = {
  name: 'design-tokens',
  enforce: 'pre',
  transform: (code, id) =>
    id.endsWith('/style/console.css') ? `${code}\n@layer tokens { ${designTokens} }` : undefined,
};

async function compressAll(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.(js|css|html|svg)$/.test(name)) continue;
    const path = join(folder, name);
    const bytes = await readFile(path);
    await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    await writeFile(`${path}.br`, brotliCompressSync(bytes, { params }));
  }
}
