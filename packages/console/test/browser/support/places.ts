import { userId } from '@convoke/contract';
import type { Locator, Page } from 'playwright-core';
import { begin, ended, pendingIn, runIn } from '../../../../server/test/support/api-steps.ts';
import { addMember, asPerson } from '../../../../server/test/support/sign-in/console.ts';
import { quietWebhook } from '../../../../server/test/support/tenant-data.ts';
import type { ConsoleTests } from './console-tests.ts';

/** A screen in one of its states. */
export interface Place {
  readonly name: string;
  readonly path: string;
  /** What only this screen shows, once it has its answer. */
  readonly shows: (page: Page) => Locator;
}

const title = (name: string) => (page: Page) => page.getByRole('heading', { level: 1, name });

const says = (text: string) => (page: Page) => page.locator('#content').getByText(text).first();

/** Runs that talked, failed and wait, and every screen that shows them. */
export async function fillPlaces(web: ConsoleTests): Promise<readonly Place[]> {
  const text = '# Title\n\nSome **text** with `code`.\n\n- one\n- two';
  const { run: talked } = await begin(web.server, 'echo', text);
  await ended(web.server, talked);
  const { run: failed } = await begin(web.server, 'failing', 'draw the chart');
  await ended(web.server, failed);
  const { run: waiting } = await begin(web.server, 'writer', 'Numbers of the third quarter');
  await runIn(web.server, waiting, 'waiting');
  const { run: asked } = await begin(web.server, 'asker', 'Ann');
  await runIn(web.server, asked, 'waiting');
  const managed = await fillManagement(web);
  const permission = await pendingIn(web.server, waiting.session_id);
  const question = await pendingIn(web.server, asked.session_id);
  const inbox = (key: string) => `${web.tenant}/approvals?item=${key}`;
  const allow = (page: Page) => page.getByRole('button', { name: /^Allow/, disabled: false });
  return [
    ...tenantPlaces(web.tenant),
    { name: 'approvals', path: inbox(permission.interaction_key), shows: allow },
    {
      name: 'question',
      path: inbox(question.interaction_key),
      shows: (page) =>
        page
          .getByRole('region', { name: /^Question: Which colour, Ann/ })
          .getByRole('button', { name: 'Decline', disabled: false }),
    },
    { name: 'no-runs', path: `${web.tenant}/runs?q=nothing`, shows: says('No matching runs.') },
    {
      name: 'run-waiting',
      path: `${web.tenant}/runs/${waiting.id}`,
      shows: (page) => allow(page).and(page.getByRole('log').getByRole('button')),
    },
    {
      name: 'run-failed',
      path: `${web.tenant}/runs/${failed.id}`,
      shows: says('cannot draw the chart'),
    },
    {
      name: 'run-timeline',
      path: `${web.tenant}/runs/${talked.id}?tab=timeline`,
      shows: (page) => page.locator('.timeline [title="run_completed"]'),
    },
    {
      name: 'session',
      path: `${web.tenant}/sessions/${talked.session_id}`,
      shows: (page) => page.locator('.marks').getByText('one'),
    },
    { name: 'schedule', path: managed.schedule, shows: title('Yearly report') },
    { name: 'webhook', path: managed.webhook, shows: title(quietWebhook.url) },
    ...organizationPlaces(web.organization),
    { name: 'client', path: managed.client, shows: title('Quickstart') },
    { name: 'settings', path: '/console/settings', shows: title('Settings') },
  ];
}

/** A schedule, a webhook, a budget and two accounts, and where they and a client are shown. */
async function fillManagement({ server, tenant, organization }: ConsoleTests) {
  const { owner: as, quickstart } = server;
  const schedule = await server.send('create_schedule', {
    body: { name: 'Yearly report', agent_name: 'echo', cron: '0 0 1 1 *', input: { prompt: 'hi' } },
  });
  const webhook = await server.send('create_webhook', { body: quietWebhook });
  const token = 'a-token-of-the-account';
  const oauth = { type: 'oauth', access_token: token, expires_at: '2099-01-15T09:30:00.000Z' };
  for (const [service, body] of [
    ['crm', { auth: { type: 'bearer', token } }],
    ['mail', { end_user: 'u-17', auth: oauth }],
  ] as const) {
    await server.send('put_connection', { params: { service }, body });
  }
  const params = { organization_id: quickstart.organization_id };
  // A long name, as some addresses are: no filter may be wider than the page for it.
  await addMember(server, 'viewer', quickstart.organization_id);
  await server.send('set_budget', {
    as,
    params,
    headers: { 'idempotency-key': 'the budget of echo' },
    body: { scope: { kind: 'agent', id: 'echo' }, period: 'month', max_tokens: 5_000_000 },
  });
  const { body } = await server.send('list_clients', { as, params });
  return {
    schedule: `${tenant}/schedules/${schedule.body.id}`,
    webhook: `${tenant}/webhooks/${webhook.body.webhook.id}`,
    client: `${organization}/clients/${body.clients[0]?.id}`,
  };
}

export function tenantPlaces(tenant: string): readonly Place[] {
  return [
    { name: 'home', path: tenant, shows: title('Home') },
    { name: 'runs', path: `${tenant}/runs`, shows: title('Runs') },
    { name: 'sessions', path: `${tenant}/sessions`, shows: title('Sessions') },
    { name: 'agents', path: `${tenant}/agents`, shows: title('Agents') },
    { name: 'agent', path: `${tenant}/agents/greeter`, shows: title('greeter') },
    { name: 'schedules', path: `${tenant}/schedules`, shows: title('Schedules') },
    { name: 'connections', path: `${tenant}/connections`, shows: title('Connections') },
    { name: 'webhooks', path: `${tenant}/webhooks`, shows: title('Webhooks') },
    { name: 'usage', path: `${tenant}/usage`, shows: title('Usage') },
  ];
}

export function organizationPlaces(organization: string): readonly Place[] {
  return [
    { name: 'tenants', path: `${organization}/tenants`, shows: title('Tenants') },
    { name: 'clients', path: `${organization}/clients`, shows: title('Automation clients') },
    { name: 'members', path: `${organization}/members`, shows: title('Members') },
    { name: 'audit', path: `${organization}/audit`, shows: title('Audit') },
    { name: 'budgets', path: `${organization}/budgets`, shows: title('Budgets') },
    { name: 'rules', path: `${organization}/rules`, shows: title('Rules') },
  ];
}

/** The page on which the owner connects an account for a session of theirs. */
export async function connectPlace({ server, tenant }: ConsoleTests): Promise<Place> {
  const { user_id } = (await server.send('get_me', { as: server.owner })).body;
  const as = await asPerson(server, userId(user_id));
  const body = { agent_name: 'connected' };
  const { id } = (await server.send('create_session', { as, body })).body;
  return {
    name: 'connect',
    path: `${tenant}/connect/${id}/github`,
    shows: (page) => page.getByRole('button', { name: 'Connect github' }),
  };
}

/** Nothing is loading any more, and the buttons of a card work. */
export async function settled(page: Page, { shows }: Place): Promise<void> {
  await shows(page).waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  await page.locator('.load-bar.on').first().waitFor({ state: 'detached' });
}
