import { place } from '../page/router.ts';

let secret: string | undefined;

/**
 * The secret of the invitation that the address has after its `#`. It leaves the address bar and stays in the memory of
 * this page: a fragment is sent to no server, but a person may copy or share the address (D-333).
 */
export function invitationSecret(): string | undefined {
  if (location.hash.length > 1) {
    secret = decoded(location.hash.slice(1));
    history.replaceState(null, '', location.pathname + location.search);
  }
  return secret;
}

/** The part of the address that must survive a sign-in page; empty on every other screen. */
export function invitationFragment(): string {
  const held = place.value.screen === 'join' ? invitationSecret() : undefined;
  return held === undefined ? '' : `#${encodeURIComponent(held)}`;
}

export function forgetInvitation(): void {
  secret = undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
