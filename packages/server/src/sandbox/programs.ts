import { findProgram, systemPath } from './program-path.ts';

/** Full paths of the programs that a sandbox needs; `undefined` where one is not installed. */
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
