import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { installMissing } from '../../../../../test/programs.ts';

/** Debian's, or what the environment names. The suite installs Debian's if it can, else it fails: it never skips. */
const candidates = [
  process.env['CONVOKE_TEST_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Vitest runs it once, before the files of this folder. */
export function setup(): void {
  if (installedChromium() === undefined) installMissing(['chromium'], ['chromium']);
}

/** Chromium without a window, without a sandbox (tests run as root), and without requests of its own. */
export function launchChromium(): Promise<Browser> {
  const executablePath = installedChromium();
  if (executablePath === undefined) {
    throw new Error('The console tests need Chromium: apt install chromium.');
  }
  return chromium.launch({
    executablePath,
    timeout: 120_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

function installedChromium(): string | undefined {
  return candidates.find((path) => path !== undefined && existsSync(path));
}
