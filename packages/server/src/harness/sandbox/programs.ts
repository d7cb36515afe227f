import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Where the system's own programs are; also the PATH inside the sandbox. */
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The programs a sandbox is made of, by their full paths; `undefined` where one is not installed. */
export interface Programs {
  readonly sh: string;
  readonly bwrap: string | undefined;
  readonly setpriv: string | undefined;
  readonly prlimit: string | undefined;
  readonly socat: string | undefined;
}

export function findPrograms(): Programs {
  return {
    sh: '/bin/sh',
    bwrap: find('bwrap'),
    setpriv: find('setpriv'),
    prlimit: find('prlimit'),
    socat: find('socat'),
  };
}

function find(name: string): string | undefined {
  return systemPath
    .split(':')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
