import {
  type GivenToken,
  type PersonToken,
  type Proof,
  type SignIn,
  SignInFailed,
  SignInRequired,
  authorizationQuery,
  codeFields,
  codeIn,
  newProof,
  requestToken,
  signedOutUri,
} from './code-flow.ts';

/** What the page needs of the issuer's discovery document. */
interface Endpoints {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly end_session_endpoint?: string;
}

const proofKey = 'convoke.sign-in';

/**
 * Sign-in at another issuer (D-150, A-391): code and PKCE with the whole page. The proof of the request is stored while the
 * page is away, and removed when it is back; tokens are in this closure only. A refresh token, if the issuer gives one,
 * renews without a page. Without one, the person signs in again when the token has ended.
 */
export function issuerSignIn(issuer: string, clientId: string): SignIn {
  let endpoints: Promise<Endpoints> | undefined;
  let answer: URLSearchParams | undefined;
  let held: GivenToken | undefined;
  let timesForgotten = 0;

  const discovered = () => {
    endpoints ??= discover(issuer).catch((error: unknown) => {
      endpoints = undefined;
      throw error;
    });
    return endpoints;
  };

  const redeem = async (given: URLSearchParams) => {
    const proof = takeProof();
    // A return that this tab did not ask for: another page may have prepared it.
    if (proof === undefined) throw new SignInRequired('The tab did not ask for this sign-in.');
    const code = codeIn(given, { state: proof.state, issuer });
    const { token_endpoint: endpoint } = await discovered();
    return requestToken(endpoint, codeFields(clientId, code, proof.verifier));
  };

  const renew = async ({ refreshToken = '' }: GivenToken) => {
    const { token_endpoint: endpoint } = await discovered();
    const fields = {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshToken,
    };
    const given = await requestToken(endpoint, fields);
    // An issuer that does not rotate refresh tokens leaves the field out.
    return { ...given, refreshToken: given.refreshToken ?? refreshToken };
  };

  return {
    returned: (given) => {
      answer = given;
    },
    obtain: async () => {
      const given = answer;
      answer = undefined;
      const before = timesForgotten;
      let next = held;
      if (given !== undefined) next = await redeem(given);
      else if (held?.refreshToken !== undefined) next = await renewed(held, renew);
      // An answer that comes after the sign-out is not kept.
      if (timesForgotten === before) held = next;
      return stillGood(held);
    },
    leave: async () => {
      const { authorization_endpoint: endpoint } = await discovered();
      const proof = newProof();
      sessionStorage.setItem(proofKey, JSON.stringify(proof));
      location.assign(withQuery(endpoint, await authorizationQuery(clientId, proof)));
    },
    forget: () => {
      held = undefined;
      timesForgotten += 1;
    },
    signOutAddress: async () => {
      const { end_session_endpoint: endpoint } = await discovered();
      if (endpoint === undefined) return undefined;
      const back = { client_id: clientId, post_logout_redirect_uri: signedOutUri() };
      return withQuery(endpoint, new URLSearchParams(back).toString());
    },
  };
}

/** A refresh token that the issuer no longer accepts is dropped: its token is used until it ends. */
async function renewed(
  held: GivenToken,
  renew: (held: GivenToken) => Promise<GivenToken>,
): Promise<GivenToken> {
  try {
    return await renew(held);
  } catch (error) {
    if (error instanceof SignInFailed && error.code === 'invalid_grant') {
      return { ...held, refreshToken: undefined };
    }
    throw error;
  }
}

/** The same token again while it lasts: a server that refuses it must not send the browser round in circles. */
function stillGood(held: PersonToken | undefined): PersonToken {
  if (held === undefined || held.expiresAt <= Date.now()) {
    throw new SignInRequired('The sign-in has ended.');
  }
  return held;
}

function takeProof(): Proof | undefined {
  const kept = sessionStorage.getItem(proofKey);
  sessionStorage.removeItem(proofKey);
  return kept === null ? undefined : (JSON.parse(kept) as Proof);
}

/** OpenID Connect Discovery: the document must name the issuer itself. */
async function discover(issuer: string): Promise<Endpoints> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const document = (await response.json()) as Endpoints;
  if (document.issuer !== issuer) {
    throw new SignInFailed('issuer_mismatch', 'The identity provider answers as another one.');
  }
  return document;
}

/** The address of an endpoint may have a query of its own. */
function withQuery(endpoint: string, query: string): string {
  return `${endpoint}${endpoint.includes('?') ? '&' : '?'}${query}`;
}
