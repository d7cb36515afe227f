import { findProgram, systemPath } from './program-path.ts';

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
