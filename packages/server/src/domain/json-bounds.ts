/** Counts that decide how expensive a JSON text is to parse. */
export interface JsonExtent {
  /** Objects, arrays, texts, numbers and literals; the names of members do not count. */
  readonly values: number;
  readonly names: number;
  /** Objects and arrays inside each other; 0 for a text, a number or a literal. */
  readonly depth: number;
}

/** What is told of a text while it is walked. What it throws ends the walk. */
export interface JsonWatch {
  /** Values and names at which the walk ends, so that the rest of a text that is refused costs nothing. */
  readonly most: number;
  /** An object or an array begins; the outermost has level 1. */
  begin(level: number): void;
  /** A member of the object at this level; its name is `text.slice(start, end)`, with the quotes. */
  name(level: number, start: number, end: number): void;
}

const unwatched: JsonWatch = { most: Number.MAX_SAFE_INTEGER, begin: () => {}, name: () => {} };

const quote = 34;
const comma = 44;
const colon = 58;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;
const space = 32;

/**
 * Counts the values and levels of a JSON text in one walk over its characters, without a stack and without making any
 * of the values: a few bytes each are a megabyte of small objects for a parser and for everything behind it. The
 * figures of a text that is not JSON mean nothing; the parser refuses it.
 */
export function extentOfJson(text: string, watch: JsonWatch = unwatched): JsonExtent {
  let [values, names, level, depth] = [0, 0, 0, 0];
  let [textStart, textEnd] = [0, 0];
  let isInLiteral = false;
  for (let at = 0; at < text.length && values + names <= watch.most; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      textStart = at;
      textEnd = behindText(text, at);
      at = textEnd - 1;
      values += 1;
    } else if (code === openBrace || code === openBracket) {
      values += 1;
      level += 1;
      if (level > depth) depth = level;
      watch.begin(level);
    } else if (code === closeBrace || code === closeBracket) {
      level -= 1;
    } else if (code === colon) {
      // The text before it was a name.
      values -= 1;
      names += 1;
      watch.name(level, textStart, textEnd);
    } else if (code !== comma && code > space) {
      if (!isInLiteral) values += 1;
      isInLiteral = true;
      continue;
    }
    isInLiteral = false;
  }
  return { values, names, depth };
}

/** The index behind the closing quote of the text that begins here, or behind everything. */
function behindText(json: string, start: number): number {
  const end = json.indexOf('"', start + 1);
  if (end === -1) return json.length;
  const escape = json.slice(start + 1, end).indexOf('\\');
  if (escape === -1) return end + 1;
  let at = start + 1 + escape;
  while (at < json.length && json.charCodeAt(at) !== quote) {
    at += json.charCodeAt(at) === backslash ? 2 : 1;
  }
  return Math.min(at + 1, json.length);
}
