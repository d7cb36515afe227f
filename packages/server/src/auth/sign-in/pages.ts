import { passwordMinCharacters } from '../../domain/password.ts';
import { escaped, renderPage } from './html.ts';

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
  return renderPage({
    title: organization === undefined ? 'Sign in' : `Sign in to ${organization}`,
    body: `${problemOf(page)}<form method="post" action="${escaped(page.action)}">
${hidden('proof', page.proof)}
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" required autofocus
  value="${escaped(page.email)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">Sign in</button>
</form>`,
  });
}

export function choosePage(page: FormPage & { readonly ticket: string }): string {
  return renderPage({
    title: 'Choose a password',
    body: `<p>That was a one-time password. Choose your own password, with at least
${passwordMinCharacters} characters.</p>
${problemOf(page)}<form method="post" action="${escaped(page.action)}">
${hidden('proof', page.proof)}
${hidden('ticket', page.ticket)}
<label for="chosen">New password</label>
<input id="chosen" name="chosen" type="password" autocomplete="new-password" required autofocus
  minlength="${passwordMinCharacters}">
<label for="repeated">Repeat the new password</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required
  minlength="${passwordMinCharacters}">
<button type="submit">Save and sign in</button>
</form>`,
  });
}

export function deviceCodePage(page: FormPage): string {
  return renderPage({
    title: 'Connect a device',
    body: `<p>Enter the code shown in your terminal.</p>
${problemOf(page)}<form method="post" action="${escaped(page.action)}">
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
    body: `<p>A terminal is requesting access to manage your organizations. Continue only if you started
this and your terminal shows this code:</p>
<code>${escaped(page.userCode)}</code>
<form method="post" action="${escaped(page.action)}">
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
    body: `<form method="post" action="${escaped(page.action)}">
${hidden('xsrf', page.proof)}
<button type="submit" name="logout" value="yes" autofocus>Sign out</button>
</form>`,
  });
}

/** Asks for a click: a link that is only opened, by a program or in advance, has no effect. */
export function linkPage(action: string): string {
  return renderPage({
    title: 'Open the console?',
    body: `<p>This signs this browser in to Convoke. Continue only if you started the server on this machine.</p>
<form method="post" action="${escaped(action)}">
<button type="submit" autofocus>Open the console</button>
</form>`,
  });
}

/** A page with a message, and a link if there is somewhere to go on. */
export function messagePage(title: string, text: string, link?: Link): string {
  const more = link && `\n<p><a href="${escaped(link.href)}">${escaped(link.text)}</a></p>`;
  return renderPage({ title, body: `<p>${escaped(text)}</p>${more ?? ''}` });
}

interface Link {
  readonly href: string;
  readonly text: string;
}

export function problemOf({ problem }: FormPage): string {
  return problem === undefined ? '' : `<p class="problem" role="alert">${escaped(problem)}</p>\n`;
}

export function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escaped(value)}">`;
}
