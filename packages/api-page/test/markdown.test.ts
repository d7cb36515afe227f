import { expect, test } from 'vitest';
import { allGuides } from '../src/guides/guides.ts';
import { renderMarkdown } from '../src/guides/markdown.ts';

const render = (text: string) =>
  renderMarkdown(text, (target) =>
    target.startsWith('x') ? undefined : target,
  ).body.markup.trim();

test.each([
  ['one\ntwo\n\nthree', '<p>one\ntwo</p>\n\n<p>three</p>'],
  ['a `b < c` **d** *e*', '<p>a <code>b &lt; c</code> <strong>d</strong> <em>e</em></p>'],
  ['[`a`](b.md#c) [d](x.ts)', '<p><a href="b.md#c"><code>a</code></a> d</p>'],
  ['<https://a.b>', '<p><a href="https://a.b">https://a.b</a></p>'],
  ['- a\n  b\n- c', '<ul><li>a\nb</li><li>c</li></ul>'],
  ['> quoted', '<blockquote><p>quoted</p></blockquote>'],
  ['<!-- hidden -->\n<b>x</b>', '<p>&lt;b&gt;x&lt;/b&gt;</p>'],
])('%j becomes HTML', (text, markup) => {
  expect(render(text)).toBe(markup);
});

test('a list keeps the code, the paragraphs and the lists inside its items', () => {
  const markup = render(
    '1. One:\n\n   ```sh\n   run\n     it\n   ```\n\n   After.\n2. Two\n   - a\n   - b\n',
  );
  expect(markup).toMatch(/^<ol><li>One:[^]*<code>run\n {2}it<\/code>[^]*<p>After\.<\/p>/);
  expect(markup).toMatch(/<li>Two<ul><li>a<\/li><li>b<\/li><\/ul><\/li><\/ol>$/);
});

test('a table keeps escaped bars, and leaves out an empty head', () => {
  const markup = render('| | |\n|---|---|\n| `a\\|b` | c \\| d |\n');
  expect(markup).not.toContain('<thead>');
  expect(markup).toContain('<tr><td><code>a|b</code></td><td>c | d</td></tr>');
});

test('headings have anchors as code hosts make them', () => {
  const { headings, body } = renderMarkdown('## Health, stop & `logs`\n', () => undefined);
  expect(headings).toEqual([{ level: 2, id: 'health-stop--logs', text: 'Health, stop & logs' }]);
  expect(body.markup).toContain('<h2 id="health-stop--logs">');
});

test('no guide uses Markdown that stays as it was written', () => {
  for (const { name, body } of allGuides()) {
    const prose = body.markup.replaceAll(/<pre[^]*?<\/pre>|<code>[^]*?<\/code>/g, '');
    const text = prose.replaceAll(/<[^>]+>/g, '');
    expect([name, ...(text.match(/\*\*|\]\(|```|^#+ |\|---|`/gm) ?? [])]).toEqual([name]);
  }
});
