import { type Html, html } from '@convoke/contract';

/** Renders the empty dialog. The page's script loads the index when it is first opened (D-282), and fills the list. */
export function searchDialog(root: string): Html {
  return html`
<dialog class="search" aria-label="Search" data-index="${root}docs/search" data-root="${root}">
<input type="search" placeholder="Search guides, operations, fields, events and errors" aria-label="Search" autocomplete="off" spellcheck="false" maxlength="100">
<ul></ul>
<p class="none" role="status" hidden></p>
</dialog>`;
}
