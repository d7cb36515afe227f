import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { press } from './support/pressed-keys.ts';
import { fillPlaces, settled } from './support/places.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

vi.setConfig({ testTimeout: 600_000 });

const web = consoleTests({ agents: consoleAgents });

/** How a dialog is opened on a screen, and the button that ends it. */
interface Opening {
  readonly place: string;
  readonly press: string | RegExp;
  readonly action: string;
}

const openings: readonly Opening[] = [
  { place: 'schedules', press: 'Create schedule', action: 'Save' },
  { place: 'webhooks', press: 'Create webhook', action: 'Create' },
  { place: 'budgets', press: 'Create budget', action: 'Save' },
  { place: 'budgets', press: 'Edit', action: 'Save' },
  { place: 'budgets', press: 'Delete', action: 'Delete' },
  { place: 'clients', press: 'Create client', action: 'Create' },
  { place: 'client', press: 'Revoke', action: 'Revoke' },
  { place: 'client', press: 'Delete', action: 'Delete' },
  { place: 'tenants', press: 'Create tenant', action: 'Create' },
  { place: 'tenants', press: 'Offboard', action: 'Delete permanently' },
  { place: 'members', press: 'Invite', action: 'Create link' },
  { place: 'schedule', press: 'Edit', action: 'Save' },
  { place: 'schedule', press: 'Delete', action: 'Delete' },
  { place: 'webhook', press: 'Delete', action: 'Delete' },
  { place: 'connections', press: 'Add connection', action: 'Add' },
  { place: 'connections', press: 'Replace crm of the tenant', action: 'Replace' },
  { place: 'connections', press: 'Revoke crm of the tenant', action: 'Revoke' },
  { place: 'session', press: 'Rename', action: 'Save' },
  { place: 'session', press: 'Terminate', action: 'Terminate' },
  { place: 'session', press: 'Delete notes.txt', action: 'Delete' },
  { place: 'session', press: 'notes.txt', action: 'Close' },
  { place: 'run-waiting', press: 'Cancel', action: 'Cancel the run' },
  { place: 'no-runs', press: 'Save view', action: 'Save' },
];

test('every dialog is accessible in both themes at both widths, and its buttons are in view', async () => {
  const places = new Map((await fillPlaces(web)).map((place) => [place.name, place]));
  let page = await web.visit(web.tenant);
  for (const [index, opening] of openings.entries()) {
    const place = places.get(opening.place);
    if (place === undefined) throw new Error(`There is no screen ${opening.place}.`);
    if (openings[index - 1]?.place !== opening.place) page = await web.visit(place.path);
    await settled(page, place);
    if (opening.place === 'session') await upload(page);
    await page
      .locator('#content')
      .getByRole('button', { name: opening.press, exact: true, disabled: false })
      .first()
      .click();
    await checked(page, opening.action);
    expect(await page.getByRole('dialog').count()).toBe(0);
  }
  page = await web.visit(web.tenant);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await press(page, '?');
  await checked(page, 'Close');
  await press(page, 'Control+k');
  await page.getByRole('combobox').waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
});

/** A file that the session shows, once. */
async function upload(page: Page): Promise<void> {
  const file = page.getByRole('button', { name: 'notes.txt', exact: true });
  await page.getByText('No files yet.').or(file).waitFor();
  if ((await file.count()) > 0) return;
  await page.getByLabel('Files to upload').setInputFiles({
    name: 'notes.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('one'),
  });
  await file.waitFor();
}

/** Looks at the open dialog, and closes it. */
async function checked(page: Page, action: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await dialog.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  const button = dialog.getByRole('button', { name: action, exact: true });
  const also = async () => {
    const { width: right, height: bottom } = page.viewportSize() ?? { width: 0, height: 0 };
    const { x = -1, y = -1, width = 0, height = 0 } = (await button.boundingBox()) ?? {};
    const isInView = x >= 0 && y >= 0 && x + width <= right && y + height <= bottom;
    expect({ action, right, isInView }).toEqual({ action, right, isInView: true });
  };
  await expectAccessibleAtBothWidths(page, { part: 'dialog', also });
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}
