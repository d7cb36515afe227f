import { accessSync, constants } from 'node:fs';
import { isAbsolute, join } from 'node:path';

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
    bwrap: findProgram('bwrap', systemPath),
    setpriv: findProgram('setpriv', systemPath),
    prlimit: findProgram('prlimit', systemPath),
    socat: findProgram('socat', systemPath),
  };
}

/** The first of the path's folders that has it decides, as in a shell. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(':')
    .filter((folder) => isAbsolute(folder))
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
