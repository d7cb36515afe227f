import { inBackground } from '../data/in-background.ts';
import { consoleRoot, safeReturn } from '../data/routes.ts';
import { navigate, place } from '../page/router.ts';
import { SignInRequired } from './code-flow.ts';
import { answerFromTab, handOver } from './handover.ts';
import { invitationFragment } from './invitation-link.ts';
import {
  changeSession,
  forgetPerson,
  hasEnded,
  personTokenSource,
  resumeSession,
  session,
} from './session.ts';
import { keepReturn, signIn, takeReturn } from './sign-in.ts';
import { listenToTabs, tellTabs } from './tabs.ts';
import { accountClient, forgetClients } from './tenant-clients.ts';
import { readWorkspaces } from './workspaces.ts';

/** Signs in without a page if the browser has a session; otherwise leaves for the sign-in page. */
export async function startSession(): Promise<void> {
  if (!isSecureContext) {
    changeSession({ kind: 'insecure' });
    return;
  }
  if (location.pathname.endsWith('/callback')) {
    const answer = new URLSearchParams(location.search);
    const kept = takeReturn();
    navigate(safeReturn(kept), { replace: true });
    // Without an address to return to, this tab did not leave for the sign-in: another one may have opened it.
    if (kept === null && (await handOver(answer))) {
      changeSession({ kind: 'done-here' });
      window.close();
    } else {
      await enter(answer);
    }
  } else {
    await enter();
  }
}

/** `answer` stood in the address when the browser came back from the sign-in page. */
export async function enter(answer?: URLSearchParams): Promise<void> {
  changeSession({ kind: 'starting' });
  try {
    if (answer !== undefined) (await signIn()).returned(answer);
    await personTokenSource().get();
    const [me, workspaces] = await Promise.all([accountClient().me(), readWorkspaces()]);
    changeSession({ kind: 'in', me, workspaces });
    listenToTabs((message) => {
      if (message === 'signed-out') forget();
      if (message === 'signed-in' && hasEnded.value) regain().catch(() => {});
    });
  } catch (error) {
    if (error instanceof SignInRequired) {
      // A person who opens an invitation may not have an account yet.
      if (place.value.screen === 'join') return changeSession({ kind: 'signed-out' });
      return leaveForSignIn();
    }
    changeSession({ kind: 'failed', error });
  }
}

export async function leaveForSignIn(): Promise<void> {
  changeSession({ kind: 'leaving' });
  try {
    keepReturn(safeReturn(location.pathname + location.search + invitationFragment()));
    await (await signIn()).leave();
  } catch (error) {
    changeSession({ kind: 'failed', error });
  }
}

let waiting: AbortController | undefined;

/**
 * Opens the sign-in page in another tab and continues here when the person is back. A browser that opens no tab leaves
 * this page instead.
 */
export async function signInAgain(): Promise<void> {
  // Opened at once: a browser allows it only as the answer to a click.
  const tab = window.open('', '_blank');
  if (tab === null) return leaveForSignIn();
  waiting?.abort();
  waiting = new AbortController();
  const answer = await answerIn(tab, waiting.signal);
  await regain(answer);
  tellTabs('signed-in');
}

/** Sends the tab to the sign-in page. Resolves when it has come back; never when another attempt has begun since. */
async function answerIn(tab: Window, signal: AbortSignal): Promise<URLSearchParams> {
  try {
    const { address, state: asked } = await (await signIn()).elsewhere();
    const answer = answerFromTab(asked, signal);
    tab.location.replace(address);
    return await answer;
  } catch (error) {
    tab.close();
    throw error;
  }
}

/** Continues on the same page. What another person may see is drawn from the beginning. */
async function regain(answer?: URLSearchParams): Promise<void> {
  const before = session.value;
  (await signIn()).returned(answer);
  await personTokenSource().get();
  const me = await accountClient().me();
  if (before.kind === 'in' && before.me.user_id !== me.user_id) {
    location.assign(`${consoleRoot}/`);
    return;
  }
  resumeSession();
}

/** Drops everything, where the person does not sign in again. */
export function leaveSignedOut(): void {
  waiting?.abort();
  forget();
}

/** Ends the session of this browser; its other tabs sign out, too. */
export async function signOut(): Promise<void> {
  tellTabs('signed-out');
  forget();
  const address = await (await signIn()).signOutAddress();
  if (address !== undefined) location.assign(address);
}

/** Everything that belongs to the person leaves the memory of the page. */
function forget(): void {
  inBackground(signIn().then((way) => way.forget()));
  forgetClients();
  forgetPerson();
}
