import { inBackground } from '../data/in-background.ts';
import { type PersonToken, type SignIn, baseUrl, signedOutUri } from './code-flow.ts';
import {
  type AuthorizationServer,
  authorizationAddress,
  newProof,
  tokenWithoutPage,
} from './oauth.ts';

const clientId = 'convoke-console';

/** The server itself. What its discovery document says is known here, so nothing is asked. */
const server: AuthorizationServer = {
  issuer: baseUrl(),
  authorization_endpoint: `${baseUrl()}/oidc/auth`,
  token_endpoint: `${baseUrl()}/oidc/token`,
  authorization_response_iss_parameter_supported: true,
  id_token_signing_alg_values_supported: ['EdDSA'],
};

/** Sign-in at the server itself. */
export const silentSignIn: SignIn = {
  // The code in the address is not used: the page asks again silently, so no verifier was stored.
  returned: () => {},
  obtain: askSilently,
  leave: async () => {
    location.assign(await authorizationAddress(server, clientId, newProof()));
  },
  elsewhere: async () => {
    const proof = newProof();
    const address = await authorizationAddress(server, clientId, proof);
    return { address, state: proof.state };
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
 * The request is of the same origin, so the redirect is followed and the code stands in the address of the response.
 * The session cookie of the identity provider is the only thing that lasts (D-150).
 */
function askSilently(): Promise<PersonToken> {
  return tokenWithoutPage(server, clientId, async (address) => {
    const response = await fetch(address, { cache: 'no-store' });
    // The body is the page of the console itself, or an error page; neither is needed.
    inBackground(response.body?.cancel());
    return new URL(response.url).searchParams;
  });
}
