import type { lexer } from 'marked';
import { printable } from '../formats.ts';
import {
  type MarkdownElement,
  type MarkdownNode,
  codeBlock,
  markdownTree,
} from './markdown-tree.ts';

/**
 * Markdown of an agent within bounded work (D-487). The parser is quadratic in the marks of a paragraph and recursive
 * in quotes, so an agent could freeze the page of the person who decides about its call. A long text is parsed in
 * pieces, cut where a paragraph begins; a piece that would cost too much stays text.
 */
export function boundedMarkdown(text: string, parse: typeof lexer): readonly MarkdownNode[] {
  if (text.length > textCharsMax) return [plain(text)];
  const budget = { left: workMax };
  const nodesOf = (piece: string) =>
    isAffordable(piece, budget) ? parsed(piece, parse) : undefined;
  const blocksOf = (piece: string) =>
    piecesOf(piece, 0).flatMap((block) =>
      typeof block === 'string' ? (nodesOf(block) ?? [plain(block)]) : [block],
    );
  return (
    nodesOf(text) ??
    piecesOf(text, pieceCharsMax).flatMap((piece) =>
      typeof piece === 'string' ? (nodesOf(piece) ?? blocksOf(piece)) : [piece],
    )
  );
}

/** A block of code, or a text to parse on its own. */
type Piece = string | MarkdownElement;

/** A longer text stays as it is. */
const textCharsMax = 50_000;
const pieceCharsMax = 10_000;
/** The sum over all paragraphs of characters times marks: below 0.1 s, and more than any answer for people has. */
const workMax = 10_000_000;
/** As deep as the tree shows. */
const depthMax = 24;

/** Pieces that were parsed: while an answer grows, only its last one changes. */
const known = new Map<string, readonly MarkdownNode[]>();
const knownMax = 200;

function parsed(piece: string, parse: typeof lexer): readonly MarkdownNode[] {
  const before = known.get(piece);
  if (before !== undefined) return before;
  let nodes: readonly MarkdownNode[];
  try {
    nodes = markdownTree(parse(piece));
  } catch {
    nodes = [plain(piece)];
  }
  if (known.size >= knownMax) known.clear();
  known.set(piece, nodes);
  return nodes;
}

function plain(text: string): MarkdownElement {
  return { tag: 'p', children: [printable(text)], isPlain: true };
}

/** Takes the work of parsing a text from the budget, if that has so much left. */
function isAffordable(text: string, budget: { left: number }): boolean {
  if (text.length > pieceCharsMax) return false;
  if (text.split('\n').some((line) => depthOf(line) > depthMax)) return false;
  const work = paragraphsOf(text).reduce((sum, paragraph) => sum + workOf(paragraph), 0);
  if (work > budget.left) return false;
  budget.left -= work;
  return true;
}

function workOf(paragraph: string): number {
  return paragraph.length * (paragraph.match(/[*_`~[<@]/g) ?? []).length;
}

/** Cuts where the parser certainly begins another paragraph: after an empty line, at an item and at a heading. */
function paragraphsOf(text: string): readonly string[] {
  return text.split(/\n(?=[ \t]*\n| {0,3}[-*+][ \t]+\S| {0,3}#{1,6}[ \t])/);
}

/** How many quotes and items a line begins. */
function depthOf(line: string): number {
  let depth = 0;
  let rest = line;
  for (;;) {
    const marker = /^[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))/.exec(rest)?.[0];
    if (marker === undefined || depth > depthMax) return depth;
    depth += 1;
    rest = rest.slice(marker.length);
  }
}

/**
 * Splits a text into code blocks and pieces of at most `charsMax` characters. A list is never split, so it may be
 * longer.
 */
function piecesOf(text: string, charsMax: number): readonly Piece[] {
  const pieces: Piece[] = [];
  const lines = text.split('\n');
  let piece: string[] = [];
  let chars = 0;
  const flush = () => {
    if (chars > 0) pieces.push(piece.join('\n'));
    piece = [];
    chars = 0;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const code = codeAt(lines, at);
    if (code !== undefined) {
      flush();
      pieces.push(code.element);
      at = code.last;
      continue;
    }
    if (startsPiece(line, lines[at - 1]) && chars + blockChars(lines, at) > charsMax) flush();
    piece.push(line);
    chars += line.length + 1;
  }
  flush();
  return pieces;
}

/** Whether a line is the first one of a block on its own, and of no list. */
function startsPiece(line: string, before: string | undefined): boolean {
  return before?.trim() === '' && /^(?!>|[-*+](?:[ \t]|$)|\d{1,9}[.)])\S/.test(line);
}

/** The length of the block that begins at a line, up to the next place where a piece could begin. */
function blockChars(lines: readonly string[], from: number): number {
  let chars = 0;
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (at > from && (startsPiece(line, lines[at - 1]) || /^(?:```|~~~)/.test(line))) break;
    chars += line.length + 1;
  }
  return chars;
}

/** The block of code whose fence is this line, however long it is, and the place of its last line. */
function codeAt(
  lines: readonly string[],
  at: number,
): { readonly element: MarkdownElement; readonly last: number } | undefined {
  const [, ticks, tildes, after = ''] =
    /^(?:(`{3,})(?=[^`]*$)|(~{3,}))(.*)$/.exec(lines[at] ?? '') ?? [];
  const fence = ticks ?? tildes;
  if (fence === undefined) return undefined;
  let last = at + 1;
  while (last < lines.length && !isEndOf(fence, lines[last] ?? '')) last += 1;
  const element = codeBlock(lines.slice(at + 1, last).join('\n'), after.trim());
  return { element, last };
}

function isEndOf(fence: string, line: string): boolean {
  return line.startsWith(fence) && /^(?:`+|~+)\s*$/.test(line);
}
