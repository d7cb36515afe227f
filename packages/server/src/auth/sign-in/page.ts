import { hash } from 'node:crypto';
import { brandMark, designTokens, type Html, html, rawHtml } from '@convoke/contract';

const style = `${designTokens}
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--canvas); color: var(--text); font: 14px/20px var(--sans); }
main { width: min(24rem, 100vw - 2rem); overflow-wrap: anywhere; box-sizing: border-box; padding: 1.5rem; margin: 2rem 0; background: var(--surface); border: 1px solid var(--line); border-radius: 8px; }
.brand { display: flex; align-items: center; gap: 8px; margin: 0 0 1.25rem; font-weight: 650; font-size: 15px; }
.brand svg { width: 20px; height: 20px; }
h1 { font-size: 20px; line-height: 28px; font-weight: 600; margin: 0 0 .75rem; }
h2 { font-size: 14px; line-height: 20px; margin: 2rem 0 .5rem; }
p { margin: .5rem 0; }
a { color: var(--accent); text-underline-offset: 3px; }
ul { list-style: none; margin: 0; padding: 0; border-bottom: 1px solid var(--line); }
li { display: flex; align-items: center; justify-content: space-between; gap: 1rem; padding: .6rem 0; border-top: 1px solid var(--line); }
li button.quiet { margin: 0; padding: .2rem .8rem; width: auto; }
small { color: var(--muted); font-size: 12px; line-height: 16px; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 500; }
input { box-sizing: border-box; width: 100%; font: inherit; padding: 6px 9px; min-height: 34px; border: 1px solid var(--control-line); border-radius: var(--radius); background: var(--surface); color: var(--text); }
button { font: inherit; font-weight: 500; margin-top: 1.25rem; padding: 6px 14px; min-height: 34px; width: 100%; border: 1px solid var(--accent-fill); border-radius: var(--radius); background: var(--accent-fill); color: #fff; cursor: pointer; }
button:hover { background: color-mix(in srgb, var(--accent-fill) 88%, #000); }
button.quiet { margin-top: .75rem; background: var(--surface); color: var(--text); border-color: color-mix(in srgb, var(--control-line) 45%, var(--line)); }
button.quiet:hover { background: var(--raised); }
.ways { display: flex; gap: 1rem; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; border-radius: 3px; }
input:focus-visible, button:focus-visible { border-radius: var(--radius); }
.problem, .notice { padding: .5rem .75rem; border: 1px solid var(--line); border-left: 3px solid var(--failed); border-radius: var(--radius); }
.notice { border-left-color: var(--done); }
code { display: block; font: 600 1.6rem/2 var(--mono); letter-spacing: .1em; }
`;

const styleDigest = hash('sha256', style, 'base64');

/** Allows a page its own style and posting its form to this server, and nothing else. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${styleDigest}'; form-action 'self'; ` +
    `base-uri 'none'; frame-ancestors 'none'`,
  // Without any referrer a browser would not send the origin of a form.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const;

export interface Page {
  readonly title: string;
  readonly body: Html;
}

export function renderPage({ title, body }: Page): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Convoke</title>
<style>${rawHtml(style)}</style>
</head>
<body><main><p class="brand">${rawHtml(brandMark)}Convoke</p>
<h1>${title}</h1>
${body}
</main></body>
</html>
`;
  return page.markup;
}
