import { randomBytes } from 'node:crypto';
import type { Provider } from 'oidc-provider';
import { takeSecret } from '../../app/people/sign-in-links.ts';
import type { Services } from '../../app/services.ts';
import { signInBrowser } from './browser-session.ts';
import { type Exchange, isCrossSite, readForm } from './exchange.ts';

/**
 * Signs in the browser in which a person has just made an account (D-790): the answer to the sign-up has a ticket, and
 * the page sends it here. The ticket is in the body, so no log of a proxy contains it.
 */
export interface JoinTickets {
  handle(provider: Provider, exchange: Exchange): Promise<void>;
}

export interface JoinTicketParts extends Pick<Services, 'store' | 'clock'> {
  readonly baseUrl: string;
}

const ticketBytes = 32;

export function newJoinTicket(): string {
  return randomBytes(ticketBytes).toString('base64url');
}

export function createJoinTickets(parts: JoinTicketParts): JoinTickets {
  const { baseUrl } = parts;
  const { origin } = new URL(baseUrl);
  return {
    async handle(provider, exchange) {
      const { request, response, requestId, address } = exchange;
      // Another site must not sign a browser in as a person of its choice.
      const isOwn = !isCrossSite(request) && request.headers.origin === origin;
      const secret = isOwn ? (await readForm(request))?.get('ticket') : undefined;
      const sent = { secret: secret ?? '', requestId, address };
      const person = isOwn ? await takeSecret(parts, 'JoinTicket', sent) : undefined;
      if (person !== undefined) {
        await signInBrowser(provider, exchange, { person, with: 'pwd', baseUrl });
      }
      response.writeHead(person === undefined ? 400 : 204, { 'cache-control': 'no-store' }).end();
    },
  };
}
