import { type Html, type Scope, html } from '@convoke/contract';
import { renderPage } from '../page.ts';
import { type FormPage, hidden, problemOf } from '../pages.ts';

export interface ConsentPage extends FormPage {
  readonly name: string;
  /** The host of its document; undefined where nothing proves the name. */
  readonly host: string | undefined;
  /** The host that gets the answer; undefined for a program on the person's computer. */
  readonly returnsTo: string | undefined;
  readonly tenant: string;
  readonly email: string;
  /** The scopes that the assistant asks for and the person has. */
  readonly scopes: ReadonlySet<Scope>;
}

/** Focuses nothing: a person who followed a stranger's link must not agree by pressing Enter. */
export function consentPage(page: ConsentPage): string {
  const { name, host, tenant, email } = page;
  const known = host === undefined ? html`not verified` : html`<strong>${host}</strong>`;
  return renderPage({
    title: `Allow ${name}?`,
    body: html`${problemOf(page)}<p><strong>${name}</strong> (${known}) wants to use the agents of
<strong>${tenant}</strong> as you: ${wordsOf(page.scopes)}.</p>
<p>${returning(page)}</p>
<p><small>Signed in as ${email}. You can end this at any time in <em>Your account</em>.</small></p>
<form method="post" action="${page.action}">
${hidden('proof', page.proof)}
<button type="submit" name="allow" value="yes">Allow</button>
<button type="submit" name="cancel" value="yes" class="quiet">Cancel</button>
</form>`,
  });
}

/** The person cannot use the tenant, or there is none. The button tells the assistant. */
export function noAccessPage(page: FormPage & Pick<ConsentPage, 'name' | 'email'>): string {
  return renderPage({
    title: 'No access',
    body: html`<p><strong>${page.name}</strong> asked for agents that ${page.email} has no access to. Check the address that
you gave it, or ask an admin of the organization to invite you.</p>
<form method="post" action="${page.action}">
${hidden('proof', page.proof)}
<button type="submit" name="cancel" value="yes">Return</button>
</form>`,
  });
}

function returning({ returnsTo }: ConsentPage): Html {
  return returnsTo === undefined
    ? html`It is a program on this computer. Continue only if you have just started it.`
    : html`It will return to <strong>${returnsTo}</strong>.`;
}

/** Sentences about each scope, in the order in which they are shown. */
const words: readonly (readonly [Scope, string])[] = [
  ['agents:read', 'see them'],
  ['runs:read', 'read their runs'],
  ['runs:write', 'start and cancel runs'],
  ['interactions:write', 'answer their questions'],
];

function wordsOf(scopes: ReadonlySet<Scope>): string {
  const said = words.flatMap(([scope, text]) => (scopes.has(scope) ? [text] : []));
  const last = said.pop() ?? 'nothing';
  return said.length === 0 ? last : `${said.join(', ')} and ${last}`;
}
