import type { UserId } from '@convoke/contract';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import {
  type ServerOptions,
  type TestServer,
  startServer,
} from '../../../../server/test/support/server.ts';
import { newContext, sharedChromium } from './chromium.ts';
import { go } from './go.ts';
import { type Cookies, cookiesOf, cookiesOfOwner } from './signed-in.ts';

/** How long the storage of a page is asked for: one that is leaving for another address may never answer. */
const inspectionMs = 5_000;

/**
 * The real server with the built console, and a browser in which its owner is signed in. Every page is watched: a test
 * fails on an error of the page, a broken policy, a request to another origin, or anything stored but settings.
 */
export class ConsoleTests {
  #server: TestServer | undefined;
  #cookies: Cookies = [];
  /** Where people of the server sign in, if not at the server itself: the only other origin that a page may reach. */
  #issuerOrigin: string | undefined;
  /** The page of the owner that stays from test to test. */
  #visited: Page | undefined;
  readonly #contexts = new Set<BrowserContext>();
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
    [this.#server] = await Promise.all([startServer(options), sharedChromium()]);
    const issuer = options.env?.['CONVOKE_OIDC_ISSUER'];
    if (issuer === undefined) this.#cookies = await cookiesOfOwner(this.server);
    else this.#issuerOrigin = new URL(issuer).origin;
  }

  /** A tab of the signed-in owner, in a browser of its own unless one is given. */
  async open(
    path: string,
    options: BrowserContextOptions & { readonly beside?: Page } = {},
  ): Promise<Page> {
    const { beside, ...rest } = options;
    const context = beside?.context() ?? (await this.#context(rest, this.#cookies));
    return this.#load(context, path);
  }

  /**
   * The same for a test that is not about loading: the page that such tests of the file share goes to the screen by
   * itself. A load costs as much as five screens. An address without a screen on the way leaves nothing of the last
   * test.
   */
  async visit(path: string): Promise<Page> {
    if (this.#visited === undefined) {
      this.#visited = await this.open(path);
      return this.#visited;
    }
    const nowhere = this.#visited.getByText('Page not found.');
    await go(this.#visited, '/console/nowhere');
    await nowhere.waitFor();
    await go(this.#visited, path);
    await nowhere.waitFor({ state: 'detached' });
    return this.#visited;
  }

  /** A page of another person, who has signed in. */
  async openAs(person: UserId, path: string): Promise<Page> {
    return this.#load(await this.#context({}, await cookiesOf(this.server, person)), path);
  }

  async openSignedOut(address: string): Promise<Page> {
    const page = await (await this.#context()).newPage();
    await page.goto(address);
    return page;
  }

  /**
   * Faults that the test causes on purpose, such as a refused answer. They are expected until the test ends, because a
   * browser reports a fault at any time after the page has noticed it; for the same reason no later test gets its page.
   */
  expectFaults(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  takeFaults(): string[] {
    const expected = this.#expected.splice(0);
    return this.#faults.splice(0).filter((fault) => !expected.some((each) => each.test(fault)));
  }

  /**
   * Ends all pages, or leaves the one that tests share. What a page reports while it is closed is no fault: its
   * requests are cut off.
   */
  async closePages({ butVisited = false } = {}): Promise<void> {
    const kept = butVisited && this.#expected.length === 0 ? this.#visited : undefined;
    this.#visited = kept;
    for (const context of this.#contexts) {
      for (const page of context.pages()) {
        await page.unrouteAll({ behavior: 'ignoreErrors' });
        await this.#inspect(page);
        if (context === kept?.context() && page !== kept) await page.close();
      }
      if (context === kept?.context()) continue;
      this.#contexts.delete(context);
      await context.close();
    }
  }

  async #load(context: BrowserContext, path: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(this.server.baseUrl + path);
    return page;
  }

  async #context(
    options: BrowserContextOptions = {},
    cookies: Cookies = [],
  ): Promise<BrowserContext> {
    const context = await newContext({
      viewport: { width: 1280, height: 820 },
      reducedMotion: 'reduce',
      ...options,
    });
    await context.addInitScript(reportViolations);
    await context.addCookies(cookies);
    this.#contexts.add(context);
    this.#watch(context);
    return context;
  }

  #watch(context: BrowserContext): void {
    const { origin } = new URL(this.server.baseUrl);
    const note = (fault: string) => {
      if (this.#contexts.has(context)) this.#faults.push(fault);
    };
    context.on('console', (message) => {
      if (message.type() === 'error') note(`console: ${message.text()} ${message.location().url}`);
    });
    context.on('weberror', (thrown) => {
      const error = thrown.error();
      note(`page: ${error.stack ?? error.message}`);
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
   * What the page has stored: settings, and the screen to return to. The latter stays as long as a person sees the
   * sign-in page, and a test may end there. A page that is navigating has no storage to look at; the test of its own
   * kind waits.
   */
  async #inspect(page: Page): Promise<void> {
    if (page.isClosed() || !page.url().startsWith(this.server.baseUrl)) return;
    const read = page
      .evaluate<[string, string][]>(
        '[...Object.entries(localStorage), ...Object.entries(sessionStorage)]',
      )
      .catch(() => []);
    const stored = await Promise.race([read, nothingAfter(inspectionMs)]);
    for (const [key, value] of stored) {
      const isScreen = value.startsWith('/console/') && !/[?&](code|state)=/.test(value);
      const isExpected = key === 'convoke.settings' || (key === 'convoke.return' && isScreen);
      if (!isExpected) this.#faults.push(`stored: ${key}`);
    }
  }
}

function nothingAfter(ms: number): Promise<[]> {
  return new Promise((resolve) => {
    setTimeout(() => resolve([]), ms).unref();
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

/** Sets the hooks of a file up: one server for all of its tests, and no fault left unseen. */
export function consoleTests(
  options: ServerOptions | (() => Promise<ServerOptions>) = {},
): ConsoleTests {
  const tests = new ConsoleTests();
  beforeAll(async () => tests.start(typeof options === 'function' ? await options() : options));
  afterEach(async ({ task }) => {
    await tests.closePages({ butVisited: task.result?.state !== 'fail' });
    const faults = tests.takeFaults();
    if (faults.length > 0) await tests.closePages();
    expect(faults).toEqual([]);
  });
  // The browser stays for the next file.
  afterAll(() => tests.closePages());
  return tests;
}
