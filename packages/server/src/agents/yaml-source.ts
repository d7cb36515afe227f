import { type Document, LineCounter, isMap, isNode, isScalar, parseDocument } from 'yaml';
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
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new AgentFileError(`${name}:${line}:${col}: ${error.message}`);
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
  const shown = problems.slice(0, problemsShown).map((problem) => located(source, problem));
  const more = problems.length - shown.length;
  return more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; ');
}

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
