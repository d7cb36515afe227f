import {
  type PersonToken,
  type SignIn,
  SignInFailed,
  SignInRequired,
  signedOutUri,
} from './code-flow.ts';
import {
  type AuthorizationServer,
  type GivenToken,
  type Proof,
  authorizationAddress,
  discoverServer,
  newProof,
  redeemCode,
  refreshTokens,
  tokenWithoutPage,
} from './oauth.ts';

const proofKey = 'convoke.sign-in';

/**
 * Sign-in at another issuer (D-150, D-259): code and PKCE with the whole page. The proof of the request is stored while
 * the page is away, and removed when it is back; tokens are in this object only. A refresh token, if the issuer gives
 * one, renews without a page. Without one, a hidden frame asks the issuer (D-261), and when it refuses, the person
 * signs in again once the token has ended.
 */
export class IssuerSignIn implements SignIn {
  readonly #issuer: string;
  readonly #clientId: string;
  #server: Promise<AuthorizationServer> | undefined;
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
    const address = new URL(endpoint);
    for (const [name, value] of Object.entries(back)) address.searchParams.set(name, value);
    return address.href;
  }

  #discovered(): Promise<AuthorizationServer> {
    this.#server ??= discoverServer(this.#issuer).catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
    return this.#server;
  }

  async #pageAddress(proof: Proof): Promise<string> {
    return authorizationAddress(await this.#discovered(), this.#clientId, proof);
  }

  async #redeem(answer: URLSearchParams): Promise<GivenToken> {
    const isElsewhere = this.#proofElsewhere?.state === answer.get('state');
    const proof = isElsewhere ? this.#proofElsewhere : takeProof();
    // A return that this tab did not ask for: another page may have prepared it.
    if (proof === undefined) throw new SignInRequired('The tab did not ask for this sign-in.');
    return redeemCode(await this.#discovered(), this.#clientId, { answer, proof });
  }

  async #renewWithoutPage(held: GivenToken): Promise<GivenToken> {
    const next = held.refreshToken === undefined ? held : await this.#renewByRefresh(held);
    return next.refreshToken === undefined ? this.#askSilently(next) : next;
  }

  /** A refresh token that the issuer no longer accepts is dropped. */
  async #renewByRefresh(held: GivenToken): Promise<GivenToken> {
    const { refreshToken = '' } = held;
    try {
      return await refreshTokens(await this.#discovered(), this.#clientId, refreshToken);
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
      const server = await discoverServer(this.#issuer);
      return await tokenWithoutPage(server, this.#clientId, visitInFrame);
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
 * Asks the issuer in a hidden frame, which ends at the address of the callback: of this origin, so it can be read. When
 * the issuer shows a page instead, or the browser keeps its cookies from it, the person is needed.
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
