import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Places, SpawnOptions } from '../ports/sandbox.ts';

/** The same in every sandbox, so that paths which a program stores stay valid in its next run. */
export const insidePlaces: Places = {
  sessionFolder: '/workspace',
  home: '/home/agent',
  folder: '/agent',
};
export const proxySocketInside = '/run/convoke/proxy.sock';

/** Parts of /etc that programs need; none of them identifies this machine. */
const shownEtcPaths = [
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

export interface FileSystemView
  extends Pick<SpawnOptions, 'sessionFolder' | 'home' | 'folder' | 'readOnly'> {
  /** A folder with the `passwd`, `group`, `hosts` and `nsswitch.conf` to show. */
  readonly etc: string;
  /** The socket of the egress proxy, for programs that have one. */
  readonly proxySocket: string | undefined;
  /** Limit of each tmpfs; absent where bubblewrap is too old to set it. */
  readonly memoryBytes: number | undefined;
}

/** Arguments for bubblewrap that show a program the system's programs and its own folders, and nothing else. */
export function viewArguments(view: FileSystemView): readonly string[] {
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
    ...tmpfs('/dev/shm', view.memoryBytes),
    '--remount-ro',
    '/dev',
    ...tmpfs('/tmp', view.memoryBytes),
    ...shownEtcPaths.filter((path) => existsSync(path)).flatMap((path) => readOnlyBind(path)),
    ...['passwd', 'group', 'hosts', 'nsswitch.conf'].flatMap((name) =>
      readOnlyBind(join(view.etc, name), join('/etc', name)),
    ),
    // Node may be installed anywhere; its executable alone is enough to run scripts.
    ...readOnlyBind(process.execPath),
    ...(view.readOnly ?? []).flatMap((path) => readOnlyBind(path)),
    ...readOnlyBind(view.folder, folder),
    ...foldersAbove(home),
    '--bind',
    view.sessionFolder,
    sessionFolder,
    '--bind',
    view.home,
    home,
    ...(view.proxySocket === undefined ? [] : readOnlyBind(view.proxySocket, proxySocketInside)),
    '--remount-ro',
    '/',
    '--chdir',
    sessionFolder,
  ];
}

function readOnlyBind(source: string, path = source): readonly string[] {
  return [...foldersAbove(path), '--ro-bind', source, path];
}

/** Makes the parent folders of a mount: those that bubblewrap makes on its own are closed to all users but root. */
function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === '/' ? [] : [...foldersAbove(above), '--perms', '0755', '--dir', above];
}

/** Copies the layout of this machine: a link into /usr on most systems, a folder on some. */
function systemFolder(path: string): readonly string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : readOnlyBind(path);
}

function tmpfs(path: string, bytes: number | undefined): readonly string[] {
  const size = bytes === undefined ? [] : ['--size', String(bytes)];
  return [...size, '--perms', '1777', '--tmpfs', path];
}
