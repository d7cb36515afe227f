import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { structureOf } from './aria.ts';
import type { Place } from './places.ts';

/** Visits the places one after the other; a failure names the place. */
export async function each(
  visited: readonly Place[],
  visit: (place: Place) => Promise<void>,
): Promise<void> {
  for (const place of visited) {
    try {
      await visit(place);
    } catch (error) {
      throw new Error(`on the screen "${place.name}"`, { cause: error });
    }
  }
}

const everyRule = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What is around the content, on screens of the console and on pages of `/docs`. */
const around = ['.sidebar', '.top'];
/** The rules whose outcome depends on colours. */
const rulesOfColours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/**
 * All rules of axe, on the whole page. What is around the content is the same on every screen, and takes as long to
 * check as most of them: it may be left out where another test looks at it. Rules about the page as a whole count
 * anyway.
 */
export async function expectAccessible(page: Page, { frame = true } = {}): Promise<void> {
  const part = frame ? 'html' : { include: ['html'], exclude: around };
  expect(await violations(page, { rules: everyRule, part })).toEqual([]);
}

/**
 * The other theme changes colours only, so the rules about them are enough, once all have passed. What is around the
 * content is the same on every screen: the test of the screens looks at the whole page once.
 */
export async function expectReadableInDark(page: Page, part = '#content'): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await violations(page, { rules: rulesOfColours, part })).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** The window of a desk, and that of a telephone, at which some texts make room for others. */
export const desk = { width: 1280, height: 800 };
export const phone = { width: 390, height: 700 };

interface WidthChecks {
  readonly frame?: boolean;
  readonly part?: string;
  /** What else has to hold at each width. */
  readonly also?: () => Promise<void>;
}

/**
 * Both of the above at both widths, and nothing scrolls sideways. The theme and the width change as rarely as possible,
 * since each change lays the page out again.
 */
export async function expectAccessibleAtBothWidths(
  page: Page,
  { frame = false, part = frame ? 'html' : '#content', also }: WidthChecks = {},
): Promise<void> {
  const whole = frame ? part : { include: [part === '#content' ? 'html' : part], exclude: around };
  const check = async (rules: unknown, at: unknown) => {
    const viewport = page.viewportSize();
    const found = await violations(page, { rules, part: at });
    expect({ viewport, found }).toEqual({ viewport, found: [] });
  };
  const fits = async () => {
    const viewport = page.viewportSize();
    // A part that measures itself is drawn a frame after the window.
    await expect
      .poll(async () => ({ viewport, excess: await excessOf(page) }))
      .toEqual({ viewport, excess: 0 });
    await also?.();
  };
  if (page.viewportSize()?.width !== desk.width) await page.setViewportSize(desk);
  await fits();
  await check(everyRule, whole);
  await page.emulateMedia({ colorScheme: 'dark' });
  await check(rulesOfColours, part);
  await page.setViewportSize(phone);
  await fits();
  await check(rulesOfColours, part);
  await page.emulateMedia({ colorScheme: 'light' });
  await check(everyRule, whole);
  await page.setViewportSize(desk);
}

/** How far the content reaches beyond the window, its frame or the pane of a conversation. */
export async function excessOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    `Math.max(0, document.documentElement.scrollWidth - innerWidth,
      ...[...document.querySelectorAll('.main, .log-scroll, dialog')].map((part) => part.scrollWidth - part.clientWidth))`,
  );
}

/** Only violations are worked out, without the paths of their elements, which a failure does not show. */
async function violations(
  page: Page,
  { rules, part }: { readonly rules: unknown; readonly part: unknown },
): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe.source);
  const options = JSON.stringify({
    runOnly: rules,
    resultTypes: ['violations'],
    selectors: false,
    // No page has frames, or media that play automatically: nothing has to be fetched for a rule.
    iframes: false,
    preload: false,
  });
  return page.evaluate<string[]>(
    `axe.run(${JSON.stringify(part)}, ${options}).then(({ violations }) => violations.map(
      ({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join()))`,
  );
}

/** What these show depends on what the machine has installed, or on what the server has counted in the background. */
const changing = new Set(['home', 'usage', 'audit', 'settings']);

/** Compares roles and names with the text in the tree, which `CONVOKE_STRUCTURE=1` writes again, to be reviewed. */
export async function expectStructure(page: Page, name: string): Promise<void> {
  if (changing.has(name)) return;
  const content = page.locator('#content');
  const file = fileURLToPath(new URL(`../structure/${name}.txt`, import.meta.url));
  if (process.env['CONVOKE_STRUCTURE'] === '1') await writeFile(file, await structureOf(content));
  const kept = await readFile(file, 'utf8');
  await expect.poll(() => structureOf(content)).toBe(kept);
}
