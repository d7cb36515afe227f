import { type ComponentChildren, type JSX, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { inBackground } from '../data/in-background.ts';
import type { MarkdownNode } from '../data/markdown/markdown-tree.ts';

type Render = (text: string) => readonly MarkdownNode[];

let loaded: Render | undefined;

/** The parser is a chunk of its own: the first screen does not need it. */
async function load(): Promise<Render> {
  const [{ lexer }, { boundedMarkdown }] = await Promise.all([
    import('marked'),
    import('../data/markdown/bounded-markdown.ts'),
  ]);
  loaded = (text) => boundedMarkdown(text, lexer);
  return loaded;
}

/** Text of an agent. Plain until the parser is loaded, and if parsing would take too long. */
export function Markdown(props: {
  readonly text: string;
  readonly isOpen?: boolean | undefined;
}): JSX.Element {
  const [render, setRender] = useState<Render | undefined>(() => loaded);
  useEffect(() => {
    if (render === undefined) inBackground(load().then((ready) => setRender(() => ready)));
  }, [render]);
  const caret = props.isOpen === true ? 'caret' : '';
  if (render === undefined) {
    return <div class={`said ${caret}`}>{props.text}</div>;
  }
  return <div class={`marks ${caret}`}>{render(props.text).map(elementOf)}</div>;
}

function elementOf(node: MarkdownNode): ComponentChildren {
  if (typeof node === 'string') return node;
  const children = node.children.map(elementOf);
  if (node.isPlain === true) return <p class="said">{children}</p>;
  if (node.tag === 'a') {
    return (
      <a href={node.href ?? ''} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    );
  }
  if (node.tag === 'ol') return <ol start={node.start}>{children}</ol>;
  if (node.tag === 'pre') {
    return (
      <pre tabIndex={0} role="region" aria-label={`Code ${node.language ?? ''}`.trim()}>
        {children}
      </pre>
    );
  }
  return h(node.tag, null, ...children);
}
