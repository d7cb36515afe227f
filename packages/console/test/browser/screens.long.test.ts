import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { screenAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { connectPlace, fillPlaces, settled } from './support/places.ts';
import {
  desk,
  each,
  excessOf,
  expectAccessibleAtBothWidths,
  expectStructure,
} from './support/screen-checks.ts';

vi.setConfig({ testTimeout: 600_000 });

const web = consoleTests({ agents: screenAgents });
/** `CONVOKE_PICTURES=1` writes a picture of every screen, to be looked at; none is compared. */
const pictures = process.env['CONVOKE_PICTURES'] === '1';
const pictureFolder = fileURLToPath(new URL('../../pictures', import.meta.url));

/** What is around the content is the same on every screen of a tenant, and on every one of the organization. */
const firstOfTheirKind = new Set(['home', 'tenants']);
/** Beside those at which everything is checked. */
const otherWidths = [768, 360] as const;

test('every screen is accessible in both themes (axe, WCAG 2.2 AA) and never scrolls sideways', async () => {
  const places = [...(await fillPlaces(web)), await connectPlace(web)];
  const page = await web.open('/console/settings');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await each(places, async (place) => {
    await go(page, place.path);
    await settled(page, place);
    await expectStructure(page, place.name);
    if (pictures) await takePictures(page, place.name);
    for (const width of otherWidths) {
      await page.setViewportSize({ width, height: 780 });
      await expect
        .poll(async () => ({ width, excess: await excessOf(page) }))
        .toEqual({ width, excess: 0 });
    }
    await expectAccessibleAtBothWidths(page, { frame: firstOfTheirKind.has(place.name) });
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
  await page.setViewportSize(desk);
}
