import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Places, SpawnOptions } from '../ports/sandbox.ts';

/** The same in every sandbox, so that what a program remembers of its folders stays true wherever it runs next. */
export const insidePlaces: Places = {
  sessionFolder: '/workspace',
  home: '/home/agent',
  folder: '/agent',
};
export const proxySocketInside = '/run/convoke/proxy.sock';

/** What of /etc a program needs, and nothing that tells of this machine. */
const shownOfEtc = [
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/ca-certificates',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust/extracted',
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/localtime',
];
const systemFolders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

export interface View extends Pick<SpawnOptions, 'sessionFolder' | 'home' | 'folder' | 'readOnly'> {
  /** A folder with the `passwd`, `group`, `hosts` and `nsswitch.conf` to show. */
  readonly etc: string;
  /** The socket of the egress proxy, for programs that have one. */
  readonly proxySocket: string | undefined;
  /** Bound for each file system in memory; absent where bubblewrap is too old to set it. */
  readonly memoryBytes: number | undefined;
}

/** What a program sees of the file system: the system's programs, its own folders, and nothing else. */
export function viewArguments(view: View): readonly string[] {
  const { sessionFolder, home, folder } = insidePlaces;
  return [
    '--ro-bind',
    '/usr',
    '/usr',
    ...systemFolders.flatMap(systemFolder),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...temporary('/dev/shm', view.memoryBytes),
    '--remount-ro',
    '/dev',
    ...temporary('/tmp', view.memoryBytes),
    ...shownOfEtc.filter((path) => existsSync(path)).flatMap((path) => readable(path)),
    ...['passwd', 'group', 'hosts', 'nsswitch.conf'].flatMap((name) =>
      readable(join(view.etc, name), join('/etc', name)),
    ),
    // Node may lie anywhere; its file alone is enough to run programs written for it.
    ...readable(process.execPath),
    ...(view.readOnly ?? []).flatMap((path) => readable(path)),
    ...readable(view.folder, folder),
    ...foldersAbove(home),
    '--bind',
    view.sessionFolder,
    sessionFolder,
    '--bind',
    view.home,
    home,
    ...(view.proxySocket === undefined ? [] : readable(view.proxySocket, proxySocketInside)),
    '--remount-ro',
    '/',
    '--chdir',
    sessionFolder,
  ];
}

function readable(source: string, place = source): readonly string[] {
  return [...foldersAbove(place), '--ro-bind', source, place];
}

/** Made by bubblewrap on the way to a mount, they would be closed to everybody but root. */
function foldersAbove(place: string): readonly string[] {
  const above = dirname(place);
  return above === '/' ? [] : [...foldersAbove(above), '--perms', '0755', '--dir', above];
}

/** As it is outside: a link into /usr on most systems, a folder on some. */
function systemFolder(path: string): readonly string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : readable(path);
}

function temporary(path: string, bytes: number | undefined): readonly string[] {
  const size = bytes === undefined ? [] : ['--size', String(bytes)];
  return [...size, '--perms', '1777', '--tmpfs', path];
}
