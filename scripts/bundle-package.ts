// Bundles a package into few files, together with the packages that every start of it loads. Node needs about half a
// millisecond for each module that it resolves, reads and links; a server has 800, and a bundle of it has a dozen.
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';

const packages = fileURLToPath(new URL('../packages/', import.meta.url));
/** What the bundler itself adds, for syntax that the target lacks. */
const helpers = '@oxc-project/runtime';

/**
 * Packages of others that become part of ours, because every start loads them. They stay dependencies anyway:
 * declarations name them, and audits find them. Agents' frameworks and databases are imported by the first that needs
 * them.
 */
export const inlined = {
  server: [
    '@convoke/api-page',
    '@convoke/contract',
    '@convoke/faces',
    '@fastify/proxy-addr',
    'croner',
    'fastify',
    'jose',
    'marked',
    'pino',
    'yaml',
    'zod',
  ],
  cli: ['@convoke/contract', '@convoke/faces', '@convoke/sdk', 'commander'],
  conformance: [],
} as const;

export interface Bundle {
  /** The source of each entry, by the path of the bundled file without its extension. */
  readonly entries: Readonly<Record<string, string>>;
  /** Packages that become part of the bundle, with all that they import. Others are imported when they are needed. */
  readonly inlined: readonly string[];
  /** Gets `dist`. */
  readonly folder: string;
}

/** Bundles a package to publish; the folder also gets the licenses of what was inlined. */
export async function bundlePackage(bundle: Bundle): Promise<void> {
  const chunks = await bundleInto(bundle, publishedPlace);
  const licenses = await licensesOf(chunks.flatMap(({ moduleIds }) => moduleIds));
  await writeFile(join(bundle.folder, 'THIRD-PARTY-LICENSES.md'), licenses);
}

/** Bundles programs that run in this checkout: their modules find other files where their sources find them. */
export async function bundleForCheckout(bundle: Bundle): Promise<void> {
  await bundleInto(bundle, (module) => `'${pathToFileURL(module).href}'`);
}

/** `placeOf` returns the expression that replaces a module's `import.meta.url`. */
async function bundleInto(
  { entries, inlined: names, folder }: Bundle,
  placeOf: (module: string) => string,
): Promise<readonly OutputChunk[]> {
  const bundle = await rolldown({
    input: { ...entries },
    platform: 'node',
    // As in tsconfig.json: the command line runs on Node 20.
    transform: { target: 'es2024' },
    // Inside a checkout the SDK chooses its sources at run time; a bundler needs them by name.
    resolve: { alias: { '@convoke/sdk/node': source('node'), '@convoke/sdk': source('index') } },
    external: (id, importer) =>
      isPackage(id) && isOurs(importer) && ![...names, helpers].includes(nameOf(id)),
    plugins: [ownPlaces(placeOf)],
    // A dependency of fastify's evaluates text that it has generated itself, once.
    checks: { eval: false },
  });
  const dist = join(folder, 'dist');
  const { output } = await bundle.generate({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    comments: false,
  });
  await bundle.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  for (const { fileName, code } of chunks) {
    await mkdir(dirname(join(dist, fileName)), { recursive: true });
    await writeFile(join(dist, fileName), inAscii(code));
  }
  return chunks;
}

function source(name: string): string {
  return join(packages, 'sdk/src', `${name}.ts`);
}

function isPackage(id: string): boolean {
  return /^(@[a-z]|[a-z])/.test(id) && !id.startsWith('node:');
}

function isOurs(importer: string | undefined): boolean {
  return importer?.startsWith(packages) === true && !importer.includes(`${sep}node_modules${sep}`);
}

/** The name of the package that a specifier or the part of a path after `node_modules` begins with. */
function nameOf(id: string): string {
  return /^(@[^/\\]+[/\\])?[^/\\]+/.exec(id)?.[0].replace('\\', '/') ?? id;
}

/**
 * Gives each of our modules a place of its own: some find files beside them by it. All chunks stand in `dist` itself.
 */
function ownPlaces(placeOf: (module: string) => string): Plugin {
  return {
    name: 'own-places',
    transform(code, id) {
      if (!isOurs(id) || !code.includes('import.meta.url')) return undefined;
      return code.replaceAll('import.meta.url', placeOf(id));
    },
  };
}

/** The place that a module would have without a bundle: `dist/store/database.js`. */
function publishedPlace(module: string): string {
  const path = relative(packages, module).split(sep).slice(2).join('/').replace(/\.ts$/, '.js');
  return `new URL('./${path}', import.meta.url).href`;
}

/**
 * Writes characters beyond ASCII as escapes. They occur in strings and patterns only, comments being gone. With one of
 * them in it, V8 would keep the whole text of a file with two bytes per character, and it keeps it as long as it runs.
 */
function inAscii(code: string): string {
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The license of each inlined package: its copies go with it. */
async function licensesOf(modules: readonly string[]): Promise<string> {
  const homes = new Set(modules.filter((id) => !isOurs(id) && existsSync(id)).map(homeOf));
  const texts = await Promise.all([...homes].toSorted().map(licenseIn));
  return `# Licenses of packages that are part of this one\n\n${texts.join('\n')}`;
}

function homeOf(module: string): string {
  const mark = `node_modules${sep}`;
  const start = module.lastIndexOf(mark) + mark.length;
  return module.slice(0, start) + nameOf(module.slice(start));
}

async function licenseIn(home: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
  };
  const file = (await readdir(home)).find((name) => /^(licen[cs]e|copying)/i.test(name));
  const text = file === undefined ? '' : await readFile(join(home, file), 'utf8');
  return `## ${manifest.name} ${manifest.version}\n\n${manifest.license ?? ''}\n\n${text.trim()}\n`;
}
