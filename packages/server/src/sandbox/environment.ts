import { dirname } from 'node:path';
import type { Places } from '../ports/sandbox.ts';
import { proxyPort } from './launch-chain.ts';
import { systemPath } from './program-path.ts';

/** Environment of a program: nothing of the server's, and the agent's own variables override the rest. */
export function environmentFor(
  places: Places,
  given: Readonly<Record<string, string>>,
  { hasProxy }: { readonly hasProxy: boolean },
): Readonly<Record<string, string>> {
  const base = {
    HOME: places.home,
    // The server's Node comes first, so that scripts for `node` run with a current version.
    PATH: `${dirname(process.execPath)}:${systemPath}`,
    LANG: 'C.UTF-8',
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/sh',
  };
  return { ...base, ...(hasProxy ? proxyVariables() : {}), ...given };
}

function proxyVariables(): Readonly<Record<string, string>> {
  const address = `http://127.0.0.1:${proxyPort}`;
  return {
    HTTP_PROXY: address,
    HTTPS_PROXY: address,
    http_proxy: address,
    https_proxy: address,
    // Node uses the variables above only when this is set.
    NODE_USE_ENV_PROXY: '1',
  };
}
