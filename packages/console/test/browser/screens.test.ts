import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { begin, ended, pendingIn, runIn } from '../../../server/test/support/api-steps.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests, patienceMs } from './support/console-tests.ts';

const web = consoleTests({ agents: consoleAgents });
const slow = 4 * patienceMs;
/** `CONVOKE_PICTURES=1` writes a picture of every screen, to be looked at; none is compared. */
const pictures = process.env['CONVOKE_PICTURES'] === '1';
const pictureFolder = fileURLToPath(new URL('../../pictures', import.meta.url));

const paths = new Map<string, string>();

beforeAll(async () => {
  const { run: talked } = await begin(
    web.server,
    'echo',
    '# Title\n\nSome **text** with `code`.\n\n- one\n- two',
  );
  await ended(web.server, talked);
  const { run: failed } = await begin(web.server, 'failing', 'draw the chart');
  await ended(web.server, failed);
  const { run: waiting } = await begin(web.server, 'writer', 'Numbers of the third quarter');
  await runIn(web.server, waiting, 'waiting');
  const { run: asked } = await begin(web.server, 'asker', 'Ann');
  await runIn(web.server, asked, 'waiting');
  const { interaction_key: key } = await pendingIn(web.server, waiting.session_id);
  const { interaction_key: question } = await pendingIn(web.server, asked.session_id);
  const t = web.tenant;
  const o = web.organization;
  const places = {
    home: t,
    approvals: `${t}/approvals?item=${key}`,
    question: `${t}/approvals?item=${question}`,
    runs: `${t}/runs`,
    'no-runs': `${t}/runs?q=nothing+like+this`,
    'run-waiting': `${t}/runs/${waiting.id}`,
    'run-failed': `${t}/runs/${failed.id}`,
    'run-timeline': `${t}/runs/${talked.id}?tab=timeline`,
    'run-missing': `${t}/runs/run_01ja3w8z5kq4v7m2x9c6t1r8en`,
    agents: `${t}/agents`,
    agent: `${t}/agents/greeter`,
    sessions: `${t}/sessions`,
    session: `${t}/sessions/${talked.session_id}`,
    tenants: `${o}/tenants`,
    clients: `${o}/clients`,
    members: `${o}/members`,
    audit: `${o}/audit`,
    schedules: `${t}/schedules`,
    webhooks: `${t}/webhooks`,
    budgets: `${o}/budgets`,
    usage: `${t}/usage`,
    settings: '/console/settings',
  };
  for (const [name, path] of Object.entries(places)) paths.set(name, path);
}, 180_000);

/** Names of the places above; the addresses are known once the server has started. */
const names = [
  'home',
  'approvals',
  'question',
  'runs',
  'no-runs',
  'run-waiting',
  'run-failed',
  'run-timeline',
  'run-missing',
  'agents',
  'agent',
  'sessions',
  'session',
  'tenants',
  'clients',
  'members',
  'audit',
  'schedules',
  'webhooks',
  'budgets',
  'usage',
  'settings',
] as const;

const themes = ['light', 'dark'] as const;
const widths = [1280, 768, 360] as const;

/** Nothing is loading, and every button that arms itself is armed. */
async function settled(page: Page): Promise<void> {
  await page.locator('#content').waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  await page.locator('.load-bar.on').first().waitFor({ state: 'detached' });
  await page
    .locator('.ask div.stack button.primary:disabled')
    .first()
    .waitFor({ state: 'detached' });
}

async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

test.each(names)(
  '%s is accessible in both themes (axe, WCAG 2.2 AA) and never scrolls sideways',
  async (name) => {
    const page = await web.open(paths.get(name) ?? '');
    await settled(page);
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      expect(await problemsOf(page)).toEqual([]);
      if (pictures) await takePictures(page, `${name}-${colorScheme}`);
    }
    for (const width of widths) {
      await page.setViewportSize({ width, height: 780 });
      const excess = await page.evaluate<number>(
        `Math.max(document.documentElement.scrollWidth - innerWidth, document.querySelector('.main').scrollWidth - document.querySelector('.main').clientWidth)`,
      );
      expect({ width, excess: Math.max(0, excess) }).toEqual({ width, excess: 0 });
    }
    await web.closePages();
    if (name === 'run-missing') web.forgive(/404/);
  },
  slow,
);

async function takePictures(page: Page, name: string): Promise<void> {
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: width === 360 ? 780 : 820 });
    await page.screenshot({ path: `${pictureFolder}/${name}-${width}.png` });
  }
  await page.setViewportSize({ width: 1280, height: 820 });
}
