import { type Html, html } from '@convoke/contract';
import { passwordMinCharacters } from '../../domain/people/password.ts';
import { renderPage } from './page.ts';

/** The sign-in pages. Each is one form, works without scripts, and shows what was wrong. */

export interface FormPage {
  readonly action: string;
  /** Proves that this server rendered the form. */
  readonly proof: string;
  readonly problem?: string | undefined;
}

/** A page on the way in. */
export interface SignInPage extends FormPage {
  /** What the person signs in to, where the server has one organization. */
  readonly organization: string | undefined;
}

export function signInPage(page: SignInPage & { readonly email: string }): string {
  const { organization } = page;
  // After a wrong password, only that is typed again.
  const [first, second] = page.email === '' ? [' autofocus', ''] : ['', ' autofocus'];
  return renderPage({
    title: organization === undefined ? 'Sign in' : `Sign in to ${organization}`,
    body: html`${problemOf(page)}<form method="post" action="${page.action}">
${hidden('proof', page.proof)}
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" required${first}
  value="${page.email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${second}>
<button type="submit">Sign in</button>
</form>`,
  });
}

export function choosePage(page: FormPage & { readonly ticket: string }): string {
  return renderPage({
    title: 'Choose a password',
    body: html`<p>That was a one-time password. Choose your own password, with at least
${passwordMinCharacters} characters.</p>
${problemOf(page)}<form method="post" action="${page.action}">
${hidden('proof', page.proof)}
${hidden('ticket', page.ticket)}
<label for="chosen">New password</label>
<input id="chosen" name="chosen" type="password" autocomplete="new-password" required autofocus
  minlength="${passwordMinCharacters}">
<label for="repeated">Confirm new password</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required
  minlength="${passwordMinCharacters}">
<button type="submit">Save and sign in</button>
</form>`,
  });
}

export function deviceCodePage(page: FormPage): string {
  return renderPage({
    title: 'Connect a device',
    body: html`<p>Enter the code shown in your terminal.</p>
${problemOf(page)}<form method="post" action="${page.action}">
${hidden('xsrf', page.proof)}
<label for="user_code">Code</label>
<input id="user_code" name="user_code" autocomplete="off" autocapitalize="characters"
  spellcheck="false" required autofocus>
<button type="submit">Continue</button>
</form>`,
  });
}

/** Focuses nothing: a person who followed a stranger's link must not agree by pressing Enter. */
export function deviceConfirmPage(page: FormPage & { readonly userCode: string }): string {
  return renderPage({
    title: 'Connect this device?',
    body: html`<p>A terminal is requesting access to manage your organizations. Continue only if you started
this and your terminal shows this code:</p>
<code>${page.userCode}</code>
<form method="post" action="${page.action}">
${hidden('xsrf', page.proof)}
${hidden('user_code', page.userCode)}
<button type="submit" name="confirm" value="yes">Continue</button>
<button type="submit" name="abort" value="yes" class="quiet">Cancel</button>
</form>`,
  });
}

export function signOutPage(page: FormPage): string {
  return renderPage({
    title: 'Sign out?',
    body: html`<form method="post" action="${page.action}">
${hidden('xsrf', page.proof)}
<button type="submit" name="logout" value="yes" autofocus>Sign out</button>
</form>
<p><a href="/console/">Cancel</a></p>`,
  });
}

/** Asks for a click: a link that is only opened, by a program or in advance, has no effect. */
export function linkPage(action: string): string {
  return renderPage({
    title: 'Open the console?',
    body: html`<p>This signs this browser in to Convoke. Continue only if you started the server on this machine.</p>
<form method="post" action="${action}">
<button type="submit" autofocus>Open the console</button>
</form>`,
  });
}

/** A page with a message, and a link if there is somewhere to continue. */
export function messagePage(title: string, text: string, link?: Link): string {
  const more = link && html`\n<p><a href="${link.href}">${link.text}</a></p>`;
  return renderPage({ title, body: html`<p>${text}</p>${more}` });
}

interface Link {
  readonly href: string;
  readonly text: string;
}

export function problemOf({ problem }: FormPage): Html | undefined {
  return problem === undefined ? undefined : html`<p class="problem" role="alert">${problem}</p>\n`;
}

/** A value that the form sends back as it is. */
export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}
