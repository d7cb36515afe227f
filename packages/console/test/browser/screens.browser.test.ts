import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { fillPlaces, settled } from './support/places.ts';
import {
  each,
  expectAccessible,
  expectReadableInDark,
  expectStructure,
} from './support/screen-checks.ts';

const web = consoleTests({ agents: consoleAgents });
/** `CONVOKE_PICTURES=1` writes a picture of every screen, to be looked at; none is compared. */
const pictures = process.env['CONVOKE_PICTURES'] === '1';
const pictureFolder = fileURLToPath(new URL('../../pictures', import.meta.url));

/** What is around the content is the same on every screen of a tenant, and on every one of the organization. */
const firstOfTheirKind = new Set(['home', 'tenants']);
const widths = [1280, 768, 390, 360] as const;
/** The width of a telephone, at which some texts make room for others. */
const narrow = 390;
const usualSize = { width: 1280, height: 820 };

/** How far the content reaches beyond the window or its frame. */
async function excessOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    `Math.max(0, document.documentElement.scrollWidth - innerWidth, document.querySelector('.main').scrollWidth - document.querySelector('.main').clientWidth)`,
  );
}

test('every screen is accessible in both themes (axe, WCAG 2.2 AA) and never scrolls sideways', async () => {
  const places = await fillPlaces(web);
  const page = await web.open('/console/settings');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await each(places, async (place) => {
    await go(page, place.path);
    await settled(page, place);
    await expectStructure(page, place.name);
    const frame = firstOfTheirKind.has(place.name);
    await expectAccessible(page, { frame });
    await expectReadableInDark(page, frame ? 'html' : '#content');
    if (pictures) await takePictures(page, place.name);
    for (const width of widths) {
      if (width !== usualSize.width) await page.setViewportSize({ width, height: 780 });
      expect({ width, excess: await excessOf(page) }).toEqual({ width, excess: 0 });
      if (width !== narrow) continue;
      await expectAccessible(page, { frame });
      await expectReadableInDark(page, frame ? 'html' : '#content');
    }
    await page.setViewportSize(usualSize);
  });
});

async function takePictures(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: width === 360 ? 780 : 820 });
      await page.screenshot({ path: `${pictureFolder}/${name}-${colorScheme}-${width}.png` });
    }
  }
  await page.setViewportSize(usualSize);
}
