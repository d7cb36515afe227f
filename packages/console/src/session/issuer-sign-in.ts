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
  tokenWithoutPage,
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
 * Sign-in at another issuer (D-150, D-259): code and PKCE with the whole page. The proof of the request is stored while the
 * page is away, and removed when it is back; tokens are in this object only. A refresh token, if the issuer gives one,
 * renews without a page. Without one, a hidden frame asks the issuer (D-261), and when it refuses, the person signs in
 * again once the token has ended.
 */
export class IssuerSignIn implements SignIn {
  readonly #issuer: string;
  readonly #clientId: string;
  #endpoints: Promise<Endpoints> | undefined;
  #answer: URLSearchParams | undefined;
  #held: GivenToken | undefined;
  #timesForgotten = 0;
  /** The issuer has said that it needs the person: it is not asked again before the person was there. */
  #isRefused = false;
  /** Of a sign-in in another tab. */
  #proofElsewhere: Proof | undefined;

  constructor(issuer: string, clientId: string) {
    this.#issuer = issuer;
    this.#clientId = clientId;
  }

  returned(answer?: URLSearchParams): void {
    this.#answer = answer;
    this.#isRefused = false;
  }

  async obtain(): Promise<PersonToken> {
    const answer = this.#answer;
    this.#answer = undefined;
    const before = this.#timesForgotten;
    let next = this.#held;
    if (answer !== undefined) next = await this.#redeem(answer);
    // A page that was just loaded has none: it leaves for the issuer, which sends a known browser back at once.
    else if (next !== undefined) next = await this.#renewWithoutPage(next);
    // An answer that comes after the sign-out is not kept.
    if (this.#timesForgotten === before) this.#held = next;
    return stillGood(this.#held);
  }

  async leave(): Promise<void> {
    const proof = newProof();
    const address = await this.#pageAddress(proof);
    sessionStorage.setItem(proofKey, JSON.stringify(proof));
    location.assign(address);
  }

  async elsewhere(): Promise<{ readonly address: string; readonly state: string }> {
    const proof = newProof();
    this.#proofElsewhere = proof;
    return { address: await this.#pageAddress(proof), state: proof.state };
  }

  forget(): void {
    this.#held = undefined;
    this.#timesForgotten += 1;
  }

  async signOutAddress(): Promise<string | undefined> {
    const { end_session_endpoint: endpoint } = await this.#discovered();
    if (endpoint === undefined) return undefined;
    const back = { client_id: this.#clientId, post_logout_redirect_uri: signedOutUri() };
    return withQuery(endpoint, new URLSearchParams(back).toString());
  }

  #discovered(): Promise<Endpoints> {
    this.#endpoints ??= discover(this.#issuer).catch((error: unknown) => {
      this.#endpoints = undefined;
      throw error;
    });
    return this.#endpoints;
  }

  async #pageAddress(proof: Proof): Promise<string> {
    const { authorization_endpoint: page } = await this.#discovered();
    return withQuery(page, await authorizationQuery(this.#clientId, proof));
  }

  async #redeem(answer: URLSearchParams): Promise<GivenToken> {
    const isElsewhere = this.#proofElsewhere?.state === answer.get('state');
    const proof = isElsewhere ? this.#proofElsewhere : takeProof();
    // A return that this tab did not ask for: another page may have prepared it.
    if (proof === undefined) throw new SignInRequired('The tab did not ask for this sign-in.');
    const code = codeIn(answer, { state: proof.state, issuer: this.#issuer });
    const { token_endpoint: endpoint } = await this.#discovered();
    return requestToken(endpoint, codeFields(this.#clientId, code, proof.verifier));
  }

  async #renewWithoutPage(held: GivenToken): Promise<GivenToken> {
    const next = held.refreshToken === undefined ? held : await this.#renewByRefresh(held);
    return next.refreshToken === undefined ? this.#askSilently(next) : next;
  }

  /** A refresh token that the issuer no longer accepts is dropped. */
  async #renewByRefresh(held: GivenToken): Promise<GivenToken> {
    const { token_endpoint: endpoint } = await this.#discovered();
    const { refreshToken = '' } = held;
    try {
      const given = await requestToken(endpoint, {
        grant_type: 'refresh_token',
        client_id: this.#clientId,
        refresh_token: refreshToken,
      });
      // An issuer that does not rotate refresh tokens leaves the field out.
      return { ...given, refreshToken: given.refreshToken ?? refreshToken };
    } catch (error) {
      if (error instanceof SignInFailed && error.code === 'invalid_grant') {
        return { ...held, refreshToken: undefined };
      }
      throw error;
    }
  }

  async #askSilently(held: GivenToken): Promise<GivenToken> {
    if (this.#isRefused) return held;
    try {
      // Read again: a frame would not say that the issuer cannot be reached.
      const endpoints = await discover(this.#issuer);
      return await tokenWithoutPage({
        clientId: this.#clientId,
        issuer: this.#issuer,
        tokenEndpoint: endpoints.token_endpoint,
        visit: (query) => visitInFrame(withQuery(endpoints.authorization_endpoint, query)),
      });
    } catch (error) {
      if (!(error instanceof SignInRequired)) throw error;
      this.#isRefused = true;
      return held;
    }
  }
}

/** The same token again while it lasts: a server that refuses it must not send the browser round in circles. */
function stillGood(held: PersonToken | undefined): PersonToken {
  if (held === undefined || held.expiresAt <= Date.now()) {
    throw new SignInRequired('The sign-in has ended.');
  }
  return held;
}

/** How long an issuer may take to answer in a frame. */
const frameMs = 20_000;

/**
 * Asks the issuer in a hidden frame, which ends at the address of the callback: of this origin, so it can be read. When the
 * issuer shows a page instead, or the browser keeps its cookies from it, the person is needed.
 */
async function visitInFrame(address: string): Promise<URLSearchParams> {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  const loaded = new Promise((resolve) => {
    frame.addEventListener('load', resolve);
    setTimeout(resolve, frameMs);
  });
  frame.src = address;
  document.body.append(frame);
  await loaded;
  const search = searchIn(frame);
  frame.remove();
  if (search === undefined) throw new SignInRequired('The issuer did not answer without a page.');
  return new URLSearchParams(search);
}

/** The browser throws for a page of another origin. */
function searchIn({ contentWindow }: HTMLIFrameElement): string | undefined {
  try {
    return contentWindow?.location.search;
  } catch {
    return undefined;
  }
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
