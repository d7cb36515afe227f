import type { UserId } from '@convoke/contract';
import type { BrowserContext } from 'playwright-core';
import { makeSignInLink } from '../../../../server/src/auth/sign-in/link.ts';
import type { TestServer } from '../../../../server/test/support/server.ts';
import { operator } from '../../../../server/test/support/sign-in/steps.ts';

export type Cookies = Parameters<BrowserContext['addCookies']>[0];

/** The cookies of a browser in which the owner has pressed the button of the link that `npm start` prints. */
export async function cookiesOfOwner(server: TestServer): Promise<Cookies> {
  return cookiesBehind(await server.convoke.consoleLink());
}

/** The same for another person, with a link that only a test makes: it needs no page and no password. */
export async function cookiesOf(server: TestServer, person: UserId): Promise<Cookies> {
  const parts = { ...server.convoke.services, baseUrl: server.baseUrl, hasConsole: true };
  return cookiesBehind((await makeSignInLink(parts, { userId: person, by: operator }))?.url);
}

async function cookiesBehind(link: string | undefined): Promise<Cookies> {
  if (link === undefined) throw new Error('The server gave no link.');
  const { origin, hostname } = new URL(link);
  const pressed = await fetch(link, { method: 'POST', headers: { origin }, redirect: 'manual' });
  return pressed.headers.getSetCookie().map((line) => {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    return {
      name: pair.slice(0, at),
      value: pair.slice(at + 1),
      domain: hostname,
      path: '/oidc',
      httpOnly: true,
      sameSite: 'Lax',
    };
  });
}
