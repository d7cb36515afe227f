import type { SignIn } from './code-flow.ts';

/** The other issuer, which the server writes into the page. */
const other = document.querySelector<HTMLMetaElement>('meta[name="convoke-issuer"]');

/** With another issuer there is no account at this server. */
export const hasAccountPage: boolean = other === null;

let chosen: Promise<SignIn> | undefined;

/** The way to sign in. Its script is a chunk of its own, so that the page draws before it is there (D-301). */
export function signIn(): Promise<SignIn> {
  chosen ??= choose().catch((error: unknown) => {
    // The next attempt loads the script again.
    chosen = undefined;
    throw error;
  });
  return chosen;
}

async function choose(): Promise<SignIn> {
  if (other === null) return (await import('./silent-sign-in.ts')).silentSignIn;
  const { IssuerSignIn } = await import('./issuer-sign-in.ts');
  return new IssuerSignIn(other.content, other.dataset['clientId'] ?? '');
}

const returnKey = 'convoke.return';

/** Keeps the address to come back to, for this tab. */
export function keepReturn(address: string): void {
  sessionStorage.setItem(returnKey, address);
}

/** Takes the address that was kept before the sign-in page. */
export function takeReturn(): string | null {
  const kept = sessionStorage.getItem(returnKey);
  sessionStorage.removeItem(returnKey);
  return kept;
}
