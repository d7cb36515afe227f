import { hash } from 'node:crypto';

/** Escapes text for use inside an element or a quoted attribute. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { width: min(22rem, 100vw - 3rem); padding: 2rem 0; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
a { color: inherit; }
ul { list-style: none; margin: 0; padding: 0; }
li { display: flex; align-items: center; justify-content: space-between; gap: 1rem;
  padding: .6rem 0; border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
li button.quiet { margin: 0; padding: .3rem .8rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input { box-sizing: border-box; width: 100%; font: inherit; padding: .6rem .7rem; border: 1px solid;
  border-radius: .4rem; background: Field; color: FieldText; }
button { font: inherit; font-weight: 600; margin-top: 1.5rem; padding: .6rem 1.2rem; width: 100%;
  border: 0; border-radius: .4rem; background: #1d4ed8; color: #fff; cursor: pointer; }
button.quiet { margin-top: .75rem; background: none; color: inherit; border: 1px solid; }
:focus-visible { outline: 3px solid #f59e0b; outline-offset: 2px; }
.problem { padding: .6rem .8rem; border-left: 4px solid #dc2626; }
.notice { padding: .6rem .8rem; border-left: 4px solid #16a34a; }
code { display: block; font: 600 1.6rem/2 ui-monospace, monospace; letter-spacing: .1em; }
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
  /** HTML. All values from outside went through `escaped`. */
  readonly body: string;
}

export function renderPage({ title, body }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Convoke</title>
<style>${style}</style>
</head>
<body><main><h1>${escaped(title)}</h1>
${body}
</main></body>
</html>
`;
}
