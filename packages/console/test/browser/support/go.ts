import type { Page } from 'playwright-core';

/** Goes to another screen inside the page, as a link of the console does, without loading the page again. */
export async function go(page: Page, path: string): Promise<void> {
  const address = JSON.stringify(path);
  await page.evaluate(
    `history.pushState(null, '', ${address}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}
