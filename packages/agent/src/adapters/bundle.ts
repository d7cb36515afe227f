// Bundles the agent of the folder that it is started in: node -e "import('@convoke/agent/bundle')". Adapter and
// framework become part of the bundle, the kit stays the server's (D-186).
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** As much of rolldown, which the agent's folder has, as is used. */
interface Rolldown {
  readonly rolldown: (options: object) => Promise<{ write(options: object): Promise<unknown> }>;
}

interface Resolver {
  resolve(source: string, importer: string, options: object): Promise<unknown>;
}

type Resolving = [source: string, importer: string | undefined, options: object];

const entry = join(process.cwd(), 'agent.ts');
const kit = fileURLToPath(new URL('../', import.meta.url));

/** What the kit's adapters import is resolved as the agent's own file would: one copy of each framework. */
const ownPackages = {
  name: 'convoke-own-packages',
  resolveId(this: Resolver, ...[source, importer, options]: Resolving) {
    const isOfAdapter = importer?.startsWith(kit) === true && /^[@a-z]/.test(source);
    return isOfAdapter ? this.resolve(source, entry, { ...options, skipSelf: true }) : undefined;
  },
};

const found = pathToFileURL(createRequire(entry).resolve('rolldown'));
const { rolldown } = (await import(found.href)) as Rolldown;
const input = { input: entry, platform: 'node', external: ['@convoke/agent'] };
const bundle = await rolldown({ ...input, plugins: [ownPackages] });
await bundle.write({ format: 'esm', dir: 'bundle' });
