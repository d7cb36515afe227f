import { consoleRoot } from '../data/routes.ts';

/** A person's own token: good for management and for the exchange, not for the application API (D-55). */
export interface PersonToken {
  readonly token: string;
  readonly expiresAt: number;
}

/** How people sign in: at the server itself, or at another issuer that its operator named. */
export interface SignIn {
  /** The browser has a session again. `answer` stood in the address when it came back from the sign-in page. */
  returned(answer?: URLSearchParams): void;
  /** A token without a page; throws `SignInRequired` where that is not possible. */
  obtain(): Promise<PersonToken>;
  /** Leaves for the sign-in page. */
  leave(): Promise<void>;
  /** The sign-in page for another tab. The answer that comes back there has this `state`. */
  elsewhere(): Promise<{ readonly address: string; readonly state: string }>;
  /** Forgets the tokens in memory. */
  forget(): void;
  /** Where the browser's session is ended; undefined where the issuer has no such page. */
  signOutAddress(): Promise<string | undefined>;
}

/** The person has to sign in with the whole page. */
export class SignInRequired extends Error {
  override readonly name = 'SignInRequired';
}

/** The identity provider refused, or answered something else. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The address of the server: the page is served below it. */
export function baseUrl(): string {
  return location.origin;
}

export function redirectUri(): string {
  return `${baseUrl()}${consoleRoot}/callback`;
}

/** Where the browser stands after a sign-out. */
export function signedOutUri(): string {
  return `${baseUrl()}${consoleRoot}/`;
}
