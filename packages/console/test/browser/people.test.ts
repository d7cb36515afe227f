import { type UserId, organizationId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { removeMember } from '../../../server/src/app/organizations.ts';
import { setPassword } from '../../../server/src/app/people/passwords.ts';
import { createPasswords } from '../../../server/src/auth/passwords.ts';
import { begin, pendingIn, runIn } from '../../../server/test/support/api-steps.ts';
import { addMember, emailOf } from '../../../server/test/support/sign-in/console.ts';
import { operator, password } from '../../../server/test/support/sign-in/steps.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests, patienceMs } from './support/console-tests.ts';

const web = consoleTests({ agents: consoleAgents });
const slow = 6 * patienceMs;

async function personWith(role: 'viewer' | 'operator'): Promise<UserId> {
  const userId = await addMember(web.server, role);
  const hash = await createPasswords().hash(password);
  await setPassword(web.server.convoke.services, { userId, hash, isOneTime: false, by: operator });
  return userId;
}

async function openAs(person: UserId, path: string) {
  const page = await web.openSignedOut(web.server.baseUrl + path);
  await web.signIn(page, { email: emailOf(person), password });
  return page;
}

test(
  'a viewer reads everything of the tenant and can change nothing, and is told why',
  async () => {
    const { run } = await begin(web.server, 'writer', 'for a viewer');
    await runIn(web.server, run, 'waiting');
    const { interaction_key: key } = await pendingIn(web.server, run.session_id);
    const page = await openAs(await personWith('viewer'), `${web.tenant}/approvals?item=${key}`);
    await page.getByText('Your role may read this, not answer it.').waitFor();
    await page.getByText('for a viewer').first().waitFor();
    expect(await page.getByRole('button', { name: /Allow/ }).count()).toBe(0);
    const navigation = page.getByRole('navigation', { name: 'Console' });
    expect(await navigation.getByText('Clients').count()).toBe(0);
    await page.goto(`${web.server.baseUrl}${web.tenant}/agents/echo`);
    await page.getByPlaceholder('Your role may read, not run').waitFor();
  },
  slow,
);

test(
  'a person who is removed from the organization sees nothing new',
  async () => {
    const person = await personWith('operator');
    const page = await openAs(person, `${web.tenant}/runs`);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await removeMember(web.server.convoke.services, {
      organizationId: organizationId(web.server.quickstart.organization_id),
      email: emailOf(person),
      by: operator,
    });
    await begin(web.server, 'echo', 'after the removal');
    await page.getByRole('link', { name: 'Waiting', exact: true }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.textContent('body')).not.toContain('after the removal');
    web.forgive(/40[013]/);
    await web.closePages();
    web.forgive(/40[013]/);
  },
  slow,
);
