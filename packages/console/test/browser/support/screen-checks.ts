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

export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe.source);
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  );
  const problems = found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`);
  expect(problems).toEqual([]);
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
