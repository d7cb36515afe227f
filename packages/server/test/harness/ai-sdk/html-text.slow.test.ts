import { describe, expect, test } from 'vitest';
import { textOfHtml } from '../../../src/harness/ai-sdk/tools/html-text.ts';

describe('the text of a page', () => {
  test('is what a reader sees, one line per block', () => {
    const page = `<!doctype html><html><head><title>News</title><style>p { color: red }</style>
      <script>if (1 < 2) alert("<p>")</script></head><body><!-- <p>hidden</p> --><h1>Hello</h1>
      <p>one &amp; two&nbsp;&#233;&#x21; &eacute;</p><svg><text>drawn</text></svg>a<br>b<BR/>c
      <ul><li>x</li><li>y</li></ul><noscript>off</noscript><template>later</template></body></html>`;
    const lines = textOfHtml(page).split('\n');
    expect(lines.filter((line) => line !== '')).toEqual([
      'News',
      'Hello',
      'one & two é! é',
      'a',
      'b',
      'c',
      'x',
      'y',
    ]);
  });

  test('continues after a drawing without content', () => {
    expect(textOfHtml('<p>before</p><svg class="icon"/><p>after</p>')).toBe('before\nafter');
  });

  test('keeps text that only looks like markup', () => {
    expect(textOfHtml('1 < 2 && 3 > 2 &unknown; <')).toBe('1 < 2 && 3 > 2 &unknown; <');
  });

  // The hand-written version before this one, and a parser with a stack of elements, take minutes for some of these.
  const bytes = 2 * 1024 * 1024;
  test.each([
    ['elements that are never closed', '<div>'],
    ['nested elements', '<b><i>'],
    ['ends without a beginning', '</div>'],
    ['tags that are never completed', '<'],
    ['comments that are never closed', '<!--'],
    ['scripts that are never closed', '<script>'],
    ['drawings that are never closed', '<svg><p>'],
    ['attributes that are never closed', '<a b="'],
    ['entities that are never completed', '&#x'],
    ['spaces', ' \n'],
  ])('takes 2 MB of %s in one pass and does not grow', (_, piece) => {
    const page = `start${piece.repeat(bytes / piece.length)}`;
    const text = textOfHtml(page);
    expect(text.startsWith('start')).toBe(true);
    expect(text.length).toBeLessThanOrEqual(page.length);
  });
});
