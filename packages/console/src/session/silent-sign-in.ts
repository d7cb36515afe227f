import { inBackground } from '../data/in-background.ts';
import {
  type PersonToken,
  type SignIn,
  authorizationQuery,
  baseUrl,
  newProof,
  signedOutUri,
  tokenWithoutPage,
} from './code-flow.ts';

const clientId = 'convoke-console';

/** Sign-in at the server itself. */
export const silentSignIn: SignIn = {
  // The code in the address is not used: the page asks again silently, so no verifier was stored.
  returned: () => {},
  obtain: askSilently,
  leave: async () => {
    location.assign(pageAddress(await authorizationQuery(clientId, newProof())));
  },
  elsewhere: async () => {
    const proof = newProof();
    return {
      address: pageAddress(await authorizationQuery(clientId, proof)),
      state: proof.state,
    };
  },
  forget: () => {},
  signOutAddress: () => {
    const query = new URLSearchParams({
      client_id: clientId,
      post_logout_redirect_uri: signedOutUri(),
    });
    return Promise.resolve(`${baseUrl()}/oidc/sign-out?${query.toString()}`);
  },
};

/**
 * The request is of the same origin, so the redirect is followed and the code stands in the address of the response. The
 * session cookie of the identity provider is the only thing that lasts (D-150).
 */
function askSilently(): Promise<PersonToken> {
  return tokenWithoutPage({
    clientId,
    issuer: baseUrl(),
    tokenEndpoint: `${baseUrl()}/oidc/token`,
    visit: async (query) => {
      const response = await fetch(pageAddress(query), { cache: 'no-store' });
      // The body is the page of the console itself, or an error page; neither is needed.
      inBackground(response.body?.cancel());
      return new URL(response.url).searchParams;
    },
  });
}

function pageAddress(query: string): string {
  return `${baseUrl()}/oidc/auth?${query}`;
}
