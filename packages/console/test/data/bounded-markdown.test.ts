import { lexer } from 'marked';
import { beforeAll, describe, expect, test } from 'vitest';
import { leastOf, workOf } from '../../../server/test/support/processor-work.ts';
import { boundedMarkdown } from '../../src/data/markdown/bounded-markdown.ts';
import type { MarkdownElement, MarkdownNode } from '../../src/data/markdown/markdown-tree.ts';

const charsMax = 50_000;
const filled = (piece: string, chars = charsMax) =>
  piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);

function elementsOf(nodes: readonly MarkdownNode[]): MarkdownElement[] {
  return nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [node, ...elementsOf(node.children)],
  );
}

const textOf = (nodes: readonly MarkdownNode[]): string =>
  nodes.map((node) => (typeof node === 'string' ? node : textOf(node.children))).join('');

const chapter = (number: number) => `## Chapter ${number}

Some **bold** words, \`code\`, a [link](https://example.com/${number}) and *more* of it, as agents write.

1. First, with \`code\`

   and a second paragraph of the same item

2. Second
   - nested **item**

\`\`\`ts
const list = [${number}];

// **not bold**
\`\`\`

| name | value |
|------|-------|
| a    | \`${number}\`   |
`;

const chapters = (count: number) =>
  Array.from({ length: count }, (_, at) => chapter(at)).join('\n');

describe('a long answer', () => {
  test('is shown as a short one is, piece by piece', () => {
    const count = 100;
    const text = chapters(count);
    expect(text.length).toBeGreaterThan(30_000);
    const one = elementsOf(boundedMarkdown(chapter(0), lexer)).map(({ tag }) => tag);
    const all = elementsOf(boundedMarkdown(text, lexer));
    expect(all.map(({ tag }) => tag)).toEqual(Array.from({ length: count }, () => one).flat());
    expect(all.some(({ isPlain }) => isPlain === true)).toBe(false);
  });

  test('shows code of any length as code, also when its fence is not closed', () => {
    const code = filled('const *a = [b_c];\n', 30_000);
    for (const end of ['\n```\n\nAnd **then**', '']) {
      const tree = boundedMarkdown(`Look:\n\n\`\`\`c\n${code}${end}`, lexer);
      const [block] = elementsOf(tree).filter(({ tag }) => tag === 'pre');
      expect(block?.language).toBe('c');
      expect(textOf(block?.children ?? []).trimEnd()).toBe(code.trimEnd());
      expect(elementsOf(tree).some(({ tag }) => tag === 'strong')).toBe(end !== '');
    }
  });

  test('keeps every word when a part is too costly, and the rest is Markdown', () => {
    const costly = filled('**a*b_c`d[', 9_000);
    const tree = boundedMarkdown(`# Before\n\n${costly}\n\n## After\n\nwith **bold**`, lexer);
    expect(textOf(tree)).toContain(costly);
    expect(elementsOf(tree).filter(({ isPlain }) => isPlain === true)).toHaveLength(1);
    expect(elementsOf(tree).map(({ tag }) => tag)).toEqual(['h3', 'p', 'h3', 'p', 'strong']);
  });

  test('is text where it is longer than the bound', () => {
    const text = filled('some **bold**\n\n', charsMax + 1);
    expect(boundedMarkdown(text, lexer)).toEqual([{ tag: 'p', children: [text], isPlain: true }]);
  });
});

const shapes: Readonly<Record<string, string>> = {
  'unclosed marks of every kind': filled('**a*b_c`d['),
  'stars that open': filled('*a'),
  quotes: filled('>'),
  'quotes of items': filled('> - '),
  'quotes in lines': filled(`${'>'.repeat(24)}a\n`),
  brackets: filled('['),
  links: filled('[a]('),
  images: filled('![['),
  addresses: filled('a@a.'),
  'items of unclosed marks': filled(`- ${'**a*b_c`d['.repeat(50)}\n`),
  'lines like rows of a table': filled('|**a*b_c`d[\n'),
  'paragraphs of unclosed marks': filled(`${'**a*b_c`d['.repeat(100)}\n\n`),
  'a fence that is none': `\`\`\`a\`b\n${filled('**a*b_c`d[\n')}`.slice(0, charsMax),
  'HTML before a fence': `<div>\n\`\`\`\n</div>\n\n${filled('**a*b_c`d[')}`.slice(0, charsMax),
};

describe('a hostile text', () => {
  let round = 0;
  const parsing = (text: string) => {
    round += 1;
    // Another letter makes every piece a new one: those that were parsed are remembered.
    const unknown = text.replaceAll('a', String.fromCodePoint(0x100 + round));
    return workOf(() => boundedMarkdown(unknown, lexer));
  };

  let usual = 0;
  beforeAll(() => {
    const ordinary = chapters(100).slice(0, charsMax / 2);
    const works = Array.from({ length: 8 }, () => parsing(ordinary));
    usual = 2 * Math.min(...works);
  });

  test.each(Object.entries(shapes))('costs little more than an ordinary one: %s', async (...of) => {
    const below = usual * 10;
    expect(await leastOf(() => parsing(of[1]), { below })).toBeLessThan(below);
  });

  test.each(Object.entries(shapes))('is shown at every length: %s', (_name, text) => {
    for (const chars of [100, 999, 9_999, 10_000, 10_001, charsMax])
      expect(textOf(boundedMarkdown(text.slice(0, chars), lexer))).not.toBe('');
  });

  test('on which the parser fails is shown as it is', () => {
    const failing = Object.assign(() => {
      throw new RangeError('Maximum call stack size exceeded');
    }, lexer);
    const tree = boundedMarkdown('a text that no parser takes', failing);
    expect(tree).toEqual([{ tag: 'p', children: ['a text that no parser takes'], isPlain: true }]);
  });
});
