import type { Page } from 'playwright-core';

interface ShownEvent {
  readonly id: string;
  readonly type: string;
}

/** The events that the tab "Raw" of a run shows at this moment. The page draws an event a little after it came. */
export async function rawEvents(page: Page): Promise<ShownEvent[]> {
  const raw = page.getByRole('region', { name: 'Events as JSON' });
  const lines = ((await raw.textContent()) ?? '').split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as ShownEvent);
}
