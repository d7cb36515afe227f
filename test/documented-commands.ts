// Finds the commands that our pages tell people to type: in blocks of shell, and as code in a sentence.
import { files, textOf } from './repository.ts';

export interface DocumentedCommand {
  readonly page: string;
  /** On one line unless it contains line breaks of its own. */
  readonly text: string;
  /** A block that is one script (`sh run`), whose commands need each other, or a single command. */
  readonly kind: 'command' | 'script';
}

/** History and reasons, and what agents read: pages in which a command is mentioned, not taught. */
const notFollowed = /^(CHANGELOG\.md|docs\/(decisions|adr)\/.*|agents\/[^/]+\/(?!README\.md).*)$/;

const programs =
  /^(\w+=\S+ )*(apt|bash|cd|convoke|cp|curl|docker|git|kill|kubectl|node|npm|npx|openssl|pg_dump|pg_restore|psql|tar) ./;

export function documentedCommands(): DocumentedCommand[] {
  const pages = files(/\.md$/).filter((path) => !notFollowed.test(path));
  return pages.flatMap((page) => commandsOf(page, textOf(page)));
}

export function commandsOf(page: string, markdown: string): DocumentedCommand[] {
  const found: DocumentedCommand[] = [];
  const fences = /^(?<indent> *)```(?<kind>.*)\n(?<code>[\s\S]*?)^ *```/gm;
  for (const { groups = {} } of markdown.matchAll(fences)) {
    const { indent = '', kind = '', code = '' } = groups;
    const text = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    if (/^(sh|bash|shell|zsh|console) \S/.test(kind)) found.push({ page, text, kind: 'script' });
    else if (/^(sh|bash|shell|zsh|console)$/.test(kind)) {
      for (const each of linesOf(text)) found.push({ page, text: each, kind: 'command' });
    }
  }
  const sentences = markdown.replaceAll(fences, '');
  for (const [, code = ''] of sentences.matchAll(/`([^`]+)`/g)) {
    const text = code.replaceAll(/\s+/g, ' ').trim();
    if (programs.test(text)) found.push({ page, text, kind: 'command' });
  }
  return found;
}

/** The commands of a block: without comments, and with the lines of one that continues joined. */
function linesOf(block: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of block.split('\n')) {
    open = open === '' ? line.replace(/(^|\s+)# .*$/, '') : `${open}\n${line}`;
    if (open.endsWith('\\')) open = `${open.slice(0, -1).trimEnd()} `;
    else if (open.split("'").length % 2 === 1) {
      if (open.trim() !== '') lines.push(open.replaceAll(/ \n +/g, ' ').trim());
      open = '';
    }
  }
  return lines;
}
