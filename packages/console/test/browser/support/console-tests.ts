import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import {
  type ServerOptions,
  type TestServer,
  startServer,
} from '../../../../server/test/support/server.ts';
import { givePassword, owner } from '../../../../server/test/support/sign-in/steps.ts';
import { launchChromium } from './chromium.ts';

/** How long a condition may take on a busy machine. */
export const patienceMs = 30_000;

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/**
 * The real server with the built console, and a browser in which its owner has signed in once, through the pages. Every
 * page is watched: a test fails on an error of the page, a broken policy, a request to another origin, or anything stored
 * but settings.
 */
export class ConsoleTests {
  #server: TestServer | undefined;
  #browser: Browser | undefined;
  #signedIn: StorageState | undefined;
  readonly #contexts: BrowserContext[] = [];
  readonly #faults: string[] = [];

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
    this.#server = await startServer(options);
    await givePassword(this.#server);
    this.#browser = await launchChromium();
    const page = await this.openSignedOut(`${this.server.baseUrl}/console/`);
    await this.signIn(page);
    await page.getByRole('heading', { level: 1 }).waitFor({ timeout: patienceMs });
    this.#signedIn = await page.context().storageState();
    await this.closePages();
  }

  async stop(): Promise<void> {
    await this.closePages();
    await this.#browser?.close();
  }

  /** Fills in the sign-in page of the server. */
  async signIn(page: Page, credentials = owner(this.server)): Promise<void> {
    await page.getByLabel('Email').fill(credentials.email);
    await page.getByLabel('Password').fill(credentials.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** A tab of the signed-in owner, in a browser of its own unless one is given. */
  async open(
    path: string,
    options: BrowserContextOptions & { readonly beside?: Page } = {},
  ): Promise<Page> {
    const { beside, ...rest } = options;
    const context =
      beside?.context() ??
      (await this.#context({
        ...rest,
        ...(this.#signedIn === undefined ? {} : { storageState: this.#signedIn }),
      }));
    const page = await context.newPage();
    this.#watch(page);
    await page.goto(this.server.baseUrl + path);
    return page;
  }

  async openSignedOut(address: string): Promise<Page> {
    const page = await (await this.#context({})).newPage();
    this.#watch(page);
    await page.goto(address);
    return page;
  }

  /** Expected faults of a test: an aborted request while the server restarts is one. */
  forgive(pattern: RegExp): void {
    const kept = this.#faults.filter((fault) => !pattern.test(fault));
    this.#faults.splice(0, this.#faults.length, ...kept);
  }

  takeFaults(): string[] {
    return this.#faults.splice(0);
  }

  async closePages(): Promise<void> {
    for (const context of this.#contexts.splice(0)) {
      for (const page of context.pages()) await this.#inspect(page);
      await context.close();
    }
  }

  async #context(options: BrowserContextOptions): Promise<BrowserContext> {
    if (this.#browser === undefined) throw new Error('The browser has not started.');
    const context = await this.#browser.newContext({
      viewport: { width: 1280, height: 820 },
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(patienceMs);
    await context.addInitScript(reportViolations);
    this.#contexts.push(context);
    return context;
  }

  #watch(page: Page): void {
    const { origin } = new URL(this.server.baseUrl);
    page.on('console', (message) => {
      if (message.type() === 'error')
        this.#faults.push(`console: ${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => this.#faults.push(`page: ${error.stack ?? error.message}`));
    page.on('request', (request) => {
      const url = new URL(request.url());
      const isOwn = url.origin === origin || url.protocol === 'blob:' || url.protocol === 'data:';
      if (!isOwn) this.#faults.push(`request to ${url.href}`);
    });
  }

  /**
   * What the page has stored: settings, and the screen to return to. The latter stays as long as a person sees the sign-in
   * page, and a test may end there.
   */
  async #inspect(page: Page): Promise<void> {
    if (page.isClosed() || !page.url().startsWith(this.server.baseUrl)) return;
    const stored = await page
      .evaluate<[string, string][]>(
        '[...Object.entries(localStorage), ...Object.entries(sessionStorage)]',
      )
      .catch(() => []);
    for (const [key, value] of stored) {
      const isScreen = value.startsWith('/console/') && !/[?&](code|state)=/.test(value);
      const isExpected = key === 'convoke.settings' || (key === 'convoke.return' && isScreen);
      if (!isExpected) this.#faults.push(`stored: ${key}`);
    }
  }
}

/** Runs in the page before anything else: a refused script, style or request becomes an error that the test sees. */
const reportViolations = `document.addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
});`;

/** Sets the hooks of a file up: one server and one browser for all of its tests, and no fault left unseen. */
export function consoleTests(options: ServerOptions = {}): ConsoleTests {
  const tests = new ConsoleTests();
  beforeAll(() => tests.start(options), 180_000);
  afterEach(async () => {
    await tests.closePages();
    expect(tests.takeFaults()).toEqual([]);
  });
  afterAll(() => tests.stop());
  return tests;
}
