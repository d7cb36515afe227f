import { expect, test } from 'vitest';
import { html, joinHtml, rawHtml } from '../src/html.ts';

const hostile = `</p><script a="b" c='d'>&amp;`;
const harmless = '&lt;/p&gt;&lt;script a=&quot;b&quot; c=&#39;d&#39;&gt;&amp;amp;';

test('text becomes text, in an element and in a quoted attribute', () => {
  expect(html`<p title="${hostile}">${hostile}</p>`.markup).toBe(
    `<p title="${harmless}">${harmless}</p>`,
  );
});

test('markup, lists of it and numbers stay as they are, and undefined is nothing', () => {
  const item = html`<li>${hostile}</li>`;
  expect(html`<ul>${[item, item]}${undefined}${7}</ul>`.markup).toBe(
    `<ul><li>${harmless}</li><li>${harmless}</li>7</ul>`,
  );
  expect(joinHtml([item, rawHtml('<br>')], ' ').markup).toBe(`<li>${harmless}</li> <br>`);
});

test('an object that looks like markup is not taken for it', () => {
  const disguised: unknown = { markup: '<script>' };
  const render = html as (strings: TemplateStringsArray, part: unknown) => { markup: string };
  expect(() => render`${disguised}`).toThrow(TypeError);
});
