import { type Html, html, joinHtml, limits } from '@convoke/contract';
import { passwordMinCharacters } from '../../domain/people/password.ts';
import { renderPage } from './page.ts';
import { type FormPage, hidden, problemOf } from './pages.ts';
import type { ActiveSignIn } from './sign-ins.ts';

/** A sign-in, with the name of the tenant that an assistant uses. */
export type ListedSignIn = Omit<ActiveSignIn, 'assistant'> & {
  readonly assistant?:
    | { readonly name: string; readonly host: string | undefined; readonly tenant: string }
    | undefined;
};

export interface AccountPage extends FormPage {
  readonly email: string;
  /** The name that the person chose. */
  readonly name?: string | null | undefined;
  readonly signIns: readonly ListedSignIn[];
  /** The session of the browser that shows the page. */
  readonly sessionId: string;
  readonly signOutPath: string;
  /** Where the console is, unless it is turned off. */
  readonly consolePath: string | undefined;
  /** The action that was just done. */
  readonly notice?: string | undefined;
}

/** The account of a person: their name, their sign-ins, their password, and the way out. */
export function accountPage(page: AccountPage): string {
  const notice =
    page.notice === undefined
      ? undefined
      : html`<p class="notice" role="status">${page.notice}</p>\n`;
  const items = page.signIns.map((signIn) => signInItem(page, signIn));
  return renderPage({
    title: 'Your account',
    body: html`<p>Signed in as <strong>${page.email}</strong></p>
<p class="ways">${toConsole(page)}<a href="${page.signOutPath}">Sign out</a></p>
${notice}${problemOf(page)}<h2>Name</h2>
${form(page, 'name', nameFields(page.name ?? ''))}
<h2>Sign-ins</h2>
<ul>
${joinHtml(items, '\n')}
</ul>
${form(page, 'everywhere', html`<button type="submit" class="quiet">Sign out everywhere</button>`)}
<h2>Change password</h2>
${form(page, 'password', passwordFields(page.email))}`,
  });
}

function toConsole({ consolePath }: AccountPage): Html | undefined {
  return consolePath === undefined ? undefined : html`<a href="${consolePath}">Open console</a>`;
}

const names = { browser: 'Browser', terminal: 'Terminal', assistant: 'Assistant' } as const;

function signInItem(page: AccountPage, signIn: ListedSignIn) {
  const { id, kind, sessionId, since, lastUsed, assistant } = signIn;
  const isThis = sessionId === page.sessionId;
  const name = isThis ? 'This browser' : (assistant?.name ?? names[kind]);
  const end = html`${hidden('id', id)}
<button type="submit" class="quiet" aria-label="End the sign-in of ${assistant?.name ?? time(since)}">End</button>`;
  const details = assistant && html`${assistant.host ?? 'not verified'} · ${assistant.tenant}<br>`;
  return html`<li><div><strong>${name}</strong><br>
<small>${details}Signed in ${time(since)}<br>Last used ${time(lastUsed)}</small></div>
${isThis ? undefined : form(page, 'end', end)}</li>`;
}

const nameFields = (name: string) => html`<label for="name">Display name</label>
<input id="name" name="name" type="text" autocomplete="name" value="${name}"
  maxlength="${limits.personNameMaxCharacters}" placeholder="Your email address">
<button type="submit" class="quiet">Save name</button>`;

/** The hidden name lets a password manager store the new password for the right person. */
const passwordFields = (
  email: string,
) => html`<input type="text" autocomplete="username" value="${email}" hidden>
<label for="current">Current password</label>
<input id="current" name="current" type="password" autocomplete="current-password" required>
<label for="chosen">New password (${passwordMinCharacters} characters or more)</label>
<input id="chosen" name="chosen" type="password" autocomplete="new-password" required
  minlength="${passwordMinCharacters}">
<label for="repeated">Confirm new password</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required
  minlength="${passwordMinCharacters}">
<p>Every browser and terminal must sign in again.</p>
<button type="submit">Change password</button>`;

function form({ action, proof }: FormPage, purpose: string, content: Html): Html {
  return html`<form method="post" action="${action}">
${hidden('proof', proof)}
${hidden('do', purpose)}
${content}
</form>`;
}

function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
