import {
  type PersonToken,
  type SignIn,
  authorizationQuery,
  baseUrl,
  codeFields,
  codeIn,
  newProof,
  requestToken,
  signedOutUri,
} from './code-flow.ts';

const clientId = 'convoke-console';

/** Sign-in at the server itself. */
export const silentSignIn: SignIn = {
  // The code in the address is not used: the page asks again silently, so no verifier was stored.
  returned: () => {},
  obtain: askSilently,
  leave: async () => {
    const query = await authorizationQuery(clientId, newProof());
    location.assign(`${baseUrl()}/oidc/auth?${query}`);
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
 * Asks for a code without a page (`prompt=none`): the request is of the same origin, so the redirect is followed and the
 * code stands in the address of the response. The session cookie of the identity provider is the only thing that lasts;
 * no verifier and no token is ever stored (D-150).
 */
async function askSilently(): Promise<PersonToken> {
  const proof = newProof();
  const query = await authorizationQuery(clientId, proof, { prompt: 'none' });
  const response = await fetch(`${baseUrl()}/oidc/auth?${query}`, { cache: 'no-store' });
  const answer = new URL(response.url).searchParams;
  // The body is the page of the console itself, or an error page; neither is needed.
  void response.body?.cancel();
  const code = codeIn(answer, { state: proof.state, issuer: baseUrl() });
  return requestToken(`${baseUrl()}/oidc/token`, codeFields(clientId, code, proof.verifier));
}
