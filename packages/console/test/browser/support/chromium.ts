import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
} from 'playwright-core';
import { installMissing } from '../../../../../test/programs.ts';

/**
 * What the environment names, or Debian's. The shell is the same engine without windows and address bar, which take as
 * long as the page under test. The suite installs it if it finds none of these and can, else it fails: it never skips.
 */
const candidates = [
  process.env['CONVOKE_TEST_CHROMIUM'],
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/**
 * What Chromium leaves out. Debian's browser loads its address bar as a page for each window, which costs more than the
 * page under test. The switch replaces that of Playwright, so the names that Playwright needs are repeated here.
 */
const withoutFeatures = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

/** Vitest runs it once, before the files of this folder. */
export function setup(): void {
  for (const name of ['chromium-headless-shell', 'chromium']) {
    if (installedChromium() !== undefined) return;
    install(name);
  }
}

function install(name: string): void {
  try {
    installMissing([name], [name]);
  } catch (error) {
    // Some systems have no package of the shell, so the browser is tried next; without both, the launch fails.
    process.stderr.write(`${name} cannot be installed: ${String(error)}\n`);
  }
}

let running: Promise<Browser> | undefined;

/**
 * One Chromium for all files that share this process. It is not closed: it ends with the process, whose end closes the
 * pipe between the two.
 */
export async function sharedChromium(): Promise<Browser> {
  running ??= launchChromium();
  const browser = await running;
  if (browser.isConnected()) return browser;
  running = launchChromium();
  return running;
}

/** How long a condition may take on a busy machine before it counts as never. */
const patienceMs = 180_000;

/** A browser of its own for one person, in the shared process. */
export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (await sharedChromium()).newContext(options);
  context.setDefaultTimeout(patienceMs);
  return context;
}

/** Chromium without a window, without a sandbox (tests run as root), and without requests of its own. */
function launchChromium(): Promise<Browser> {
  const executablePath = installedChromium();
  if (executablePath === undefined) {
    throw new Error(
      'The console tests need Chromium: apt install chromium-headless-shell, or chromium.',
    );
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
      `--disable-features=${withoutFeatures.join()}`,
    ],
  });
}

function installedChromium(): string | undefined {
  return candidates.find((path) => path !== undefined && existsSync(path));
}
