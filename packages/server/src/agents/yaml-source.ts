import {
  type Document,
  type ErrorCode,
  LineCounter,
  type YAMLParseError,
  isMap,
  isNode,
  isScalar,
  parseDocument,
} from 'yaml';
import { AgentFileError } from '../confined-fs/agent-file.ts';
import type { AgentProblem } from './problems.ts';

const problemsShown = 5;
const aliasesMax = 100;

/** A YAML file that was parsed, with the places of its values. */
export interface YamlSource {
  /** Name of the file, for messages. */
  readonly name: string;
  readonly text: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly value: unknown;
}

export function parseYaml(name: string, text: string): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const found = syntaxProblems(document.errors, text, lines);
    const shown = found.map(({ line, col, message }) => `${name}:${line}:${col}: ${message}`);
    throw new AgentFileError(listed(shown));
  }
  if (document.contents === null) throw new AgentFileError(`${name} is empty`);
  try {
    // A few aliases can expand to exponentially more than the size of the file.
    return { name, text, document, lines, value: document.toJS({ maxAliasCount: aliasesMax }) };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'cannot be read';
    throw new AgentFileError(`${name}: ${message}`, { cause: error });
  }
}

/** Describes the first problems, each with its line and column. */
export function describeProblems(source: YamlSource, problems: readonly AgentProblem[]): string {
  return listed(problems.map((problem) => located(source, problem)));
}

function listed(problems: readonly string[]): string {
  const shown = problems.slice(0, problemsShown);
  const more = problems.length - shown.length;
  return more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; ');
}

interface SyntaxProblem {
  readonly line: number;
  readonly col: number;
  readonly message: string;
}

/**
 * Syntax errors, one a line: the parser reports several where a line is indented by mistake.
 */
function syntaxProblems(
  errors: readonly YAMLParseError[],
  text: string,
  lines: LineCounter,
): readonly SyntaxProblem[] {
  const found = new Map<number, SyntaxProblem>();
  for (const { code, message, pos } of errors) {
    const [start, end] = [lines.linePos(pos[0]), lines.linePos(pos[1])];
    const isOverLines = code === 'MULTILINE_IMPLICIT_KEY' && end.line > start.line;
    const below = text.split('\n')[end.line - 1] ?? '';
    const indent = below.length - below.trimStart().length;
    if (isOverLines && indent > 0) {
      // The key above has its value already, so the parser took both lines for one key.
      found.delete(start.line);
      const place = { line: end.line, col: indent + 1 };
      found.set(end.line, { ...place, message: 'the line is indented, but belongs to no key' });
    } else if (!found.has(start.line)) {
      found.set(start.line, { ...start, message: plainly[code] ?? message });
    }
  }
  return [...found.values()];
}

/** In words for a person who has not read the specification of YAML. */
const plainly: Readonly<Partial<Record<ErrorCode, string>>> = {
  BLOCK_AS_IMPLICIT_KEY: 'the value contains ": " and needs quotes',
  MULTILINE_IMPLICIT_KEY: 'the line is not a key with a value: write "key: value"',
  BAD_INDENT: 'the line is indented differently than those it belongs to, or a bracket is open',
  TAB_AS_INDENT: 'the line is indented with a tab: use spaces',
};

function located({ name, document, lines }: YamlSource, { path, message }: AgentProblem): string {
  const offset = offsetOf(document, path);
  const position = offset === undefined ? null : lines.linePos(offset);
  const where = position === null ? name : `${name}:${position.line}:${position.col}`;
  return path.length === 0 ? `${where}: ${message}` : `${where}: ${dotted(path)} ${message}`;
}

/** Returns the offset of the deepest existing part of `path`; for an unknown key that is the key itself. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  if (path.length === 0) return document.contents?.range[0];
  for (let length = path.length; length > 0; length -= 1) {
    const parent: unknown =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    const pair = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === last)
      : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}

function dotted(path: readonly PropertyKey[]): string {
  const [first, ...rest] = path;
  const tail = rest.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return `${String(first)}${tail.join('')}`;
}
