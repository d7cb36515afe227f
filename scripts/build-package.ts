// Builds the published packages. Inside the repository a package is its sources, which Node and TypeScript read as they
// are; Node refuses to strip types below node_modules, so what others install is JavaScript with declarations. The two
// have a manifest each, because one manifest with a condition for the sources would reach other people's bundlers.
import { copyFile, cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { guideFiles, packagedGuides } from '@convoke/api-page';
import { buildConsole } from '../packages/console/scripts/build-console.ts';
import {
  compile,
  declarationsOf,
  rewriteDeclarations,
  writeManifest,
} from '../packages/sdk/scripts/built-files.ts';
import { bundlePackage, inlined } from './bundle-package.ts';
import { publishedPackages } from './published-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
}

/**
 * One after the other: each is compiled against the declarations of those before it. The SDK has a build of its own.
 */
const order = publishedPackages.filter((name) => name !== 'sdk');

/** Packages that people write programs with. */
const guided = ['sdk', 'agent'] as const;

/**
 * Builds contract, faces, api-page, agent, server, cli and conformance below a folder that holds the built SDK as
 * `sdk`.
 */
export async function buildPackages(folder: string): Promise<void> {
  // Declarations that are compiled against name packages of their own.
  const link = join(folder, 'node_modules');
  await symlink(join(root, 'node_modules'), link);
  try {
    for (const name of order) await buildPackage(name, folder);
    for (const name of guided) await writeGuides(join(folder, name));
  } finally {
    await rm(link);
  }
}

async function buildPackage(name: (typeof order)[number], folder: string): Promise<void> {
  const home = join(root, 'packages', name);
  const built = join(folder, name);
  await rm(built, { recursive: true, force: true });
  const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as Manifest;
  const sources = Object.values(manifest.exports ?? { '.': './src/main.ts' });
  const files = sources.map((path) => join(home, path));
  const isProgram = name === 'cli' || name === 'conformance';
  const isBundle = name === 'server' || isProgram;
  // A program declares nothing.
  if (!isProgram) {
    const config = join(folder, `tsconfig.${name}.json`);
    const options = compilation(home, folder, { emitDeclarationOnly: isBundle });
    await writeFile(config, JSON.stringify({ ...options, files, include: [] }));
    compile(config, built);
    await rm(config);
    await rename(join(built, 'src'), join(built, 'dist'));
    await rewriteDeclarations(join(built, 'dist'));
  }
  if (isBundle) {
    const paths = sources.map((path) => path.replace(/^\.\/src\//, '').replace(/\.ts$/, ''));
    const entries = Object.fromEntries(paths.map((path, index) => [path, files[index] ?? '']));
    await bundlePackage({ entries, inlined: inlined[name], folder: built });
  }
  await writeManifest(built, published(manifest));
  await copyFile(join(home, 'README.md'), join(built, 'README.md'));
  if (name === 'server') {
    const migrations = 'store/migrations';
    await cp(join(home, 'src', migrations), join(built, 'dist', migrations), { recursive: true });
    await buildConsole(join(built, 'dist/console'));
    await copyPythonKit(join(built, 'dist/python'));
  }
  if (name === 'api-page' || name === 'server') {
    for (const file of guideFiles(root)) {
      await cp(join(root, file), join(built, 'dist/pages', file), { recursive: true });
    }
  }
  if (isProgram) {
    await cp(join(home, 'bin'), join(built, 'bin'), { recursive: true });
  }
}

/** What a coding agent reads in the project that installs the package. */
async function writeGuides(folder: string): Promise<void> {
  await mkdir(join(folder, 'docs'), { recursive: true });
  for (const [file, text] of packagedGuides()) await writeFile(join(folder, 'docs', file), text);
}

/** Python reads the kit as it is. */
async function copyPythonKit(folder: string): Promise<void> {
  const home = join(root, 'packages/agent-python');
  const isKit = (path: string) => !path.endsWith('__pycache__');
  for (const part of ['convoke_agent', 'launch.sh']) {
    await cp(join(home, part), join(folder, part), { recursive: true, filter: isKit });
  }
}

function compilation(home: string, folder: string, more: object) {
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      allowJs: true,
      checkJs: false,
      declaration: true,
      ...more,
      // The manifest is imported, so it is part of what is compiled.
      rootDir: home,
      typeRoots: [join(root, 'node_modules/@types')],
      paths: {
        '@convoke/api-page': [join(folder, 'api-page/dist/api-page.d.ts')],
        '@convoke/contract': [join(folder, 'contract/dist/index.d.ts')],
        '@convoke/faces': [join(folder, 'faces/dist/index.d.ts')],
        '@convoke/sdk': [join(folder, 'sdk/index.d.ts')],
        '@convoke/sdk/node': [join(folder, 'sdk/node.d.ts')],
        '@convoke/server': [join(folder, 'server/dist/index.d.ts')],
        '@convoke/server/config': [join(folder, 'server/dist/config/config.d.ts')],
      },
    },
  };
}

function published(manifest: Manifest) {
  const { name, version, description, license, type, engines, dependencies } = manifest;
  const { peerDependencies, peerDependenciesMeta, bin } = manifest;
  const entries = Object.entries(manifest.exports ?? {}).map(([entry, source]) => {
    const path = source.replace('./src/', './dist/');
    const types = declarationsOf(path);
    return [entry, { types, default: path.replace(/\.ts$/, '.js') }] as const;
  });
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    dependencies,
    // Optional all of them: npm installs none, and warns of a version that does not fit.
    peerDependencies,
    peerDependenciesMeta,
    ...(bin === undefined ? { exports: Object.fromEntries(entries) } : { bin }),
  };
}
