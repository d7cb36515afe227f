// Builds and runs images for real, without a daemon and without a registry: `buildah` from Debian's packages, with a
// chroot as isolation, on a root file system that `mmdebstrap` makes.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  realpath,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { removeFolder } from './remove-folder.ts';

const run = promisify(execFile);
const outputMaxBytes = 64 * 1024 * 1024;
const programs = ['buildah', 'mmdebstrap'];
const baseName = 'localhost/convoke-test-base';

export interface ContainerEngine {
  /** Builds the image of a Dockerfile on the base image; returns its name. */
  build(dockerfile: string, context: string): Promise<string>;
  createContainer(image: string): Promise<Container>;
  close(): Promise<void>;
}

export interface Container {
  /** The root folder of its file system. */
  readonly root: string;
  /** How the image says it is used. */
  readonly config: ImageConfig;
  /** Runs a command in it, as the user of the image, to its end; returns its output. */
  exec(command: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** Starts what the image starts. */
  start(env: Readonly<Record<string, string>>): ChildProcess;
}

export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** The engine, or the reason why there is none. Installs its programs where it can: as root, on a system with apt. */
export async function openContainerEngine(): Promise<ContainerEngine | string> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return 'building images needs root on Linux';
  }
  const missing = programs.filter((name) => !existsSync(join('/usr/bin', name)));
  if (missing.length > 0) {
    if (!existsSync('/usr/bin/apt-get')) return `${missing.join(' and ')} cannot be installed here`;
    const problem = await install(missing);
    if (problem !== undefined) return problem;
  }
  const folder = await mkdtemp(join(tmpdir(), 'convoke-engine-'));
  const problems: string[] = [];
  // Overlays make no copies, but a kernel or a file system may not have them.
  for (const driver of ['overlay', 'vfs']) {
    const engine = new Buildah(join(folder, driver), driver);
    const problem = await engine.problem();
    if (problem === undefined) return withBase(engine);
    problems.push(problem);
  }
  await removeFolder(folder);
  return problems.join('; ');
}

/** A mirror that does not answer is a reason to build nothing, not a fault of the image. */
async function withBase(engine: Buildah): Promise<ContainerEngine | string> {
  try {
    await engine.makeNodeBase();
    return engine;
  } catch (error) {
    await engine.close();
    return `mmdebstrap could not make a base image: ${messageOf(error)}`;
  }
}

async function install(packages: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) =>
    run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { env, maxBuffer: outputMaxBytes });
  try {
    // A machine that was never asked for a package has no list of them yet, or an old one.
    await apt('update');
    await apt('install', '-y', '--no-install-recommends', ...packages);
    return undefined;
  } catch (error) {
    return `apt-get could not install ${packages.join(' and ')}: ${messageOf(error)}`;
  }
}

class Buildah implements ContainerEngine {
  readonly #folder: string;
  readonly #driver: string;

  constructor(folder: string, driver: string) {
    this.#folder = folder;
    this.#driver = driver;
  }

  /** Why it does not work on this machine; undefined when it does. */
  async problem(): Promise<string | undefined> {
    try {
      await mkdir(this.#folder);
      const container = await this.#do('from', '--isolation', 'chroot', 'scratch');
      await this.#do('mount', container);
      await this.#do('rm', container);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  async build(dockerfile: string, context: string): Promise<string> {
    const name = 'localhost/convoke-test';
    const options = [
      '--isolation',
      'chroot',
      '--format',
      'docker',
      '--layers=false',
      '--pull-never',
    ];
    const mounts = (await this.#npmMounts()).map((mount) => `--volume=${mount}`);
    const what = [`--build-arg=BASE=${baseName}`, '--file', dockerfile, '--tag', name, context];
    await this.#do('bud', '--quiet', ...options, ...mounts, ...what);
    return name;
  }

  /** The settings and the cache of this machine's npm: what it has fetched is not fetched again. */
  async #npmMounts(): Promise<readonly string[]> {
    const setting = async (name: string) =>
      (await run('npm', ['config', 'get', name])).stdout.trim();
    const [cache, registry, authorities] = [
      await setting('cache'),
      await setting('registry'),
      await setting('cafile'),
    ];
    await mkdir(cache, { recursive: true });
    const settings = join(this.#folder, 'npmrc');
    const inside = '/etc/ssl/certs/of-the-builder.crt';
    const hasAuthorities = existsSync(authorities);
    const lines = ['prefer-offline=true', 'update-notifier=false', `registry=${registry}`];
    if (hasAuthorities) lines.push(`cafile=${inside}`);
    await writeFile(settings, `${lines.join('\n')}\n`);
    return [
      `${cache}:/root/.npm`,
      `${settings}:/root/.npmrc:ro`,
      ...(hasAuthorities ? [`${authorities}:${inside}:ro`] : []),
    ];
  }

  /** Makes a base image in place of the official one of Node: Debian, Node, npm and the user `node`. */
  async makeNodeBase(): Promise<void> {
    const container = await this.#do('from', '--isolation', 'chroot', 'scratch');
    const root = await this.#do('mount', container);
    const target = ['bookworm', root, 'http://deb.debian.org/debian'];
    await run('mmdebstrap', [...slim, ...target], { maxBuffer: outputMaxBytes });
    await addNode(root);
    await run('chroot', [root, 'useradd', '--create-home', '--uid', '1000', 'node']);
    await this.#do('umount', container);
    await this.#do('commit', '--quiet', '--rm', container, baseName);
  }

  async createContainer(image: string): Promise<Container> {
    const id = await this.#do('from', '--isolation', 'chroot', '--pull-never', image);
    const inspected = JSON.parse(await this.#do('inspect', id)) as {
      readonly Docker: { readonly config: ImageConfig };
    };
    const { config } = inspected.Docker;
    const running = (command: readonly string[], env: Readonly<Record<string, string>>) => [
      ...this.#place,
      'run',
      '--isolation',
      'chroot',
      ...Object.entries(env).map(([name, value]) => `--env=${name}=${value}`),
      id,
      '--',
      ...command,
    ];
    return {
      root: await this.#do('mount', id),
      config,
      async exec(command, env = {}) {
        const { stdout } = await run('buildah', running(command, env));
        return stdout;
      },
      start: (env) =>
        // In a chroot the entry point is not process 1, of which tini would warn.
        spawn(
          'buildah',
          running([...config.Entrypoint, ...config.Cmd], { ...env, TINI_SUBREAPER: '1' }),
          {
            stdio: ['ignore', 'pipe', 'inherit'],
          },
        ),
    };
  }

  async close(): Promise<void> {
    // Unmounts what it still holds, or the folder could not be removed.
    await this.#do('rm', '--all').catch(() => undefined);
    await removeFolder(dirname(this.#folder));
  }

  get #place(): readonly string[] {
    const [root, running] = [join(this.#folder, 'storage'), join(this.#folder, 'run')];
    return ['--storage-driver', this.#driver, '--root', root, '--runroot', running];
  }

  async #do(...args: readonly string[]): Promise<string> {
    try {
      const command = [...this.#place, ...args];
      const { stdout } = await run('buildah', command, { maxBuffer: outputMaxBytes });
      return stdout.trim();
    } catch (error) {
      throw new Error(`buildah ${args[0]} failed: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** As small as Debian's own slim images: what apt needs, without documents and translations. */
const slim = [
  '--quiet',
  '--variant=apt',
  '--include=ca-certificates',
  '--aptopt=Acquire::Languages "none"',
  // Stays in the image, so that a mirror that fails once does not fail the build.
  '--aptopt=Acquire::Retries "5"',
  ...['doc', 'info', 'locale', 'man'].map((part) => `--dpkgopt=path-exclude=/usr/share/${part}/*`),
];

/** Puts the Node and the npm of this machine where the official image has them. */
async function addNode(root: string): Promise<void> {
  const local = join(root, 'usr/local');
  await copyFile(process.execPath, join(local, 'bin/node'));
  await chmod(join(local, 'bin/node'), 0o755);
  const { stdout: npm } = await run('sh', ['-c', 'command -v npm']);
  const home = dirname(dirname(await realpath(npm.trim())));
  await mkdir(join(local, 'lib/node_modules'), { recursive: true });
  await cp(home, join(local, 'lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
}

function messageOf(error: unknown): string {
  const { stderr = '', message = String(error) } = error as { stderr?: string; message?: string };
  return (stderr || message).trim().slice(-4_000);
}
