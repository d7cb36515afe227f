import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import {
  type ServerOptions,
  type TestServer,
  startServer,
} from '../../../../server/test/support/server.ts';
import type { Credentials } from '../../../../server/test/support/sign-in/steps.ts';
import { sharedChromium } from './chromium.ts';
import { go } from './go.ts';

/** How long a condition may take on a busy machine. */
const patienceMs = 60_000;

/** How long the storage of a page is asked for: one that is leaving for another address may never answer. */
const inspectionMs = 5_000;

type Cookies = Parameters<BrowserContext['addCookies']>[0];

/**
 * The real server with the built console, and a browser in which its owner is signed in. Every page is watched: a test
 * fails on an error of the page, a broken policy, a request to another origin, or anything stored but settings.
 */
export class ConsoleTests {
  #server: TestServer | undefined;
  #browser: Browser | undefined;
  #cookies: Cookies = [];
  /** Where people of the server sign in, if not at the server itself: the only other origin that a page may reach. */
  #issuerOrigin: string | undefined;
  readonly #contexts = new Set<BrowserContext>();
  /** The owner's, for all tests of the file. */
  #owners: BrowserContext | undefined;
  /** A page of the owner that an earlier test left as it found it: a load costs four times as much as another screen. */
  #spare: Page | undefined;
  /** Pages of tests that are over. */
  readonly #closing = new WeakSet<Page>();
  readonly #faults: string[] = [];
  readonly #expected: RegExp[] = [];

  get server(): TestServer {
    if (this.#server === undefined) throw new Error('The server has not started.');
    return this.#server;
  }

  /** After a restart: the same address and data. */
  set server(server: TestServer) {
    this.#server = server;
  }

  get tenant(): string {
    return `/console/t/${this.server.quickstart.tenant_id}`;
  }

  get organization(): string {
    return `/console/o/${this.server.quickstart.organization_id}`;
  }

  async start(options: ServerOptions): Promise<void> {
    [this.#server, this.#browser] = await Promise.all([startServer(options), sharedChromium()]);
    const issuer = options.env?.['CONVOKE_OIDC_ISSUER'];
    if (issuer === undefined) this.#cookies = await cookiesOfOwner(this.server);
    else this.#issuerOrigin = new URL(issuer).origin;
  }

  /** Fills in the sign-in page of the server, and waits until the page behind it has taken its place. */
  async signIn(page: Page, credentials: Credentials): Promise<void> {
    await page.getByLabel('Email').fill(credentials.email);
    await page.getByLabel('Password').fill(credentials.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Console' }).waitFor();
  }

  /** A tab of the signed-in owner, or one in the browser of another page. With `isCold` the browser has seen nothing yet. */
  async open(
    path: string,
    options: { readonly beside?: Page; readonly isCold?: boolean } = {},
  ): Promise<Page> {
    const { beside, isCold = false } = options;
    const spare = this.#spare;
    if (spare !== undefined && beside === undefined && !isCold) {
      this.#spare = undefined;
      await leaveSettings(spare, path);
      return spare;
    }
    const context = beside?.context() ?? (await this.#contextOfOwner(isCold));
    const page = await context.newPage();
    await page.goto(this.server.baseUrl + path);
    return page;
  }

  async openSignedOut(address: string): Promise<Page> {
    const page = await (await this.#context()).newPage();
    await page.goto(address);
    return page;
  }

  /**
   * Faults that the test causes on purpose, such as a refused answer. They are expected until the test ends, because a
   * browser reports a fault at any time after the page has noticed it.
   */
  expectFaults(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  takeFaults(): string[] {
    const expected = this.#expected.splice(0);
    return this.#faults.splice(0).filter((fault) => !expected.some((each) => each.test(fault)));
  }

  /**
   * Ends all pages, but for one of the owner that has stored nothing and has met no fault: the next test goes on with it.
   * What a page reports while it is closed is no fault: its requests are cut off.
   */
  async closePages(): Promise<void> {
    for (const context of this.#contexts) {
      const unchanged: Page[] = [];
      for (const page of context.pages()) {
        await page.unrouteAll({ behavior: 'ignoreErrors' });
        if (await this.#inspect(page)) unchanged.push(page);
      }
      const isUnchanged = unchanged.length > 0 && unchanged.length === context.pages().length;
      if (context === this.#owners && isUnchanged && !this.#hasFaults) await this.#keep(unchanged);
      else await this.#close(context);
    }
  }

  async closeBrowsers(): Promise<void> {
    for (const context of this.#contexts) await this.#close(context);
  }

  async #close(context: BrowserContext): Promise<void> {
    this.#contexts.delete(context);
    if (context === this.#owners) {
      this.#owners = undefined;
      this.#spare = undefined;
    }
    await context.close();
  }

  /** A browser reports a fault late, so the page of a test that expects one is not used by the next. */
  get #hasFaults(): boolean {
    return this.#faults.length > 0 || this.#expected.length > 0;
  }

  /** Leaves the screen of the test, so that the next test finds nothing of it. */
  async #keep([first, ...others]: readonly Page[]): Promise<void> {
    this.#spare = first;
    for (const page of others) {
      this.#closing.add(page);
      await page.close();
    }
    if (first === undefined) return;
    await go(first, settingsPath);
    await settingsTitle(first).waitFor();
  }

  async #contextOfOwner(isCold: boolean): Promise<BrowserContext> {
    if (isCold) return this.#context(this.#cookies);
    this.#owners ??= await this.#context(this.#cookies);
    return this.#owners;
  }

  async #context(cookies: Cookies = []): Promise<BrowserContext> {
    if (this.#browser === undefined) throw new Error('The browser has not started.');
    const context = await this.#browser.newContext({
      viewport: { width: 1280, height: 820 },
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(patienceMs);
    await context.addInitScript(reportViolations);
    await context.addCookies(cookies);
    this.#contexts.add(context);
    this.#watch(context);
    return context;
  }

  #watch(context: BrowserContext): void {
    const { origin } = new URL(this.server.baseUrl);
    const note = (fault: string, page: Page | null = null) => {
      if (page !== null && this.#closing.has(page)) return;
      if (this.#contexts.has(context)) this.#faults.push(fault);
    };
    context.on('console', (message) => {
      if (message.type() !== 'error') return;
      note(`console: ${message.text()} ${message.location().url}`, message.page());
    });
    context.on('weberror', (thrown) => {
      const error = thrown.error();
      note(`page: ${error.stack ?? error.message}`, thrown.page());
    });
    context.on('request', (request) => {
      const url = new URL(request.url());
      const isIssuer = url.origin === this.#issuerOrigin;
      const isOwn =
        isIssuer || url.origin === origin || url.protocol === 'blob:' || url.protocol === 'data:';
      if (!isOwn) note(`request to ${url.href}`);
    });
  }

  /**
   * What the page has stored: settings, and the screen to return to. The latter stays as long as a person sees the sign-in
   * page, and a test may end there. A page that is navigating has no storage to look at; the test of its own kind waits.
   * Returns whether the page was there and has stored nothing.
   */
  async #inspect(page: Page): Promise<boolean> {
    if (page.isClosed() || !page.url().startsWith(this.server.baseUrl)) return false;
    const read = page
      .evaluate<[string, string][]>(
        '[...Object.entries(localStorage), ...Object.entries(sessionStorage)]',
      )
      .catch(() => undefined);
    const stored = await Promise.race([read, nothingAfter(inspectionMs)]);
    for (const [key, value] of stored ?? []) {
      const isScreen = value.startsWith('/console/') && !/[?&](code|state)=/.test(value);
      const isExpected = key === 'convoke.settings' || (key === 'convoke.return' && isScreen);
      if (!isExpected) this.#faults.push(`stored: ${key}`);
    }
    return stored?.length === 0;
  }
}

const settingsPath = '/console/settings';

function settingsTitle(page: Page): Locator {
  return page.getByRole('heading', { level: 1, name: 'Settings' });
}

/**
 * Returns when the next screen has taken the place of the settings, and the page has done what follows each change of the
 * screen: it closes the palette and takes the focus, which would undo the first keys of a test.
 */
async function leaveSettings(page: Page, path: string): Promise<void> {
  await go(page, path);
  if (path !== settingsPath) await settingsTitle(page).waitFor({ state: 'detached' });
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
}

function nothingAfter(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}

/** The cookies of a browser in which the owner has pressed the button of the link that `npm start` prints. */
async function cookiesOfOwner(server: TestServer): Promise<Cookies> {
  const link = await server.convoke.consoleLink();
  if (link === undefined) throw new Error('The server gave no link.');
  const { origin } = new URL(server.baseUrl);
  const pressed = await fetch(link, { method: 'POST', headers: { origin }, redirect: 'manual' });
  return pressed.headers.getSetCookie().map((line) => {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    return {
      name: pair.slice(0, at),
      value: pair.slice(at + 1),
      domain: new URL(origin).hostname,
      path: '/oidc',
      httpOnly: true,
      sameSite: 'Lax',
    };
  });
}

/** Runs in the page before anything else: a refused script, style or request becomes an error that the test sees. */
const reportViolations = `document.addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
});`;

/** Moves the clock of the page: its tokens have ended, without waiting for it. */
export async function letTokensEnd(page: Page): Promise<void> {
  await page.evaluate('{ const now = Date.now; Date.now = () => now() + 3_600_000; }');
}

/** Sets the hooks of a file up: one server and one Chromium for all of its tests, and no fault left unseen. */
export function consoleTests(
  options: ServerOptions | (() => Promise<ServerOptions>) = {},
): ConsoleTests {
  const tests = new ConsoleTests();
  beforeAll(async () => tests.start(typeof options === 'function' ? await options() : options));
  afterEach(async () => {
    await tests.closePages();
    expect(tests.takeFaults()).toEqual([]);
  });
  // Chromium stays for the next file.
  afterAll(() => tests.closeBrowsers());
  return tests;
}
