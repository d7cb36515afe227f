import { findProgram, systemPath } from './program-path.ts';

/** Full paths of the programs that a sandbox needs; `undefined` where one is not installed. */
export interface Programs {
  readonly sh: string;
  /** Can close any descriptor and read with a time limit; Debian's `sh` can name those up to 9 only. */
  readonly bash: string | undefined;
  readonly bwrap: string | undefined;
  readonly setpriv: string | undefined;
  readonly prlimit: string | undefined;
  readonly socat: string | undefined;
}

/** The bash of macOS is too old to read with a limit in fractions of a second. */
export function hasWatcher({ bash }: Programs): boolean {
  return bash !== undefined && process.platform === 'linux';
}

export function findPrograms(): Programs {
  return {
    sh: '/bin/sh',
    bash: findProgram('bash', systemPath),
    bwrap: findProgram('bwrap', systemPath),
    setpriv: findProgram('setpriv', systemPath),
    prlimit: findProgram('prlimit', systemPath),
    socat: findProgram('socat', systemPath),
  };
}
