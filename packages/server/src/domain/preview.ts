import { limits } from '@convoke/contract';
import { type Json, type JsonObject, isObject } from './json.ts';

/** The beginning of a text in one line, for lists. */
export function previewOf(text: string, characters: number = limits.previewCharacters): string {
  // Twice as many code units hold at least as many characters.
  const line = text
    .slice(0, characters * 2)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
  if (line.length <= characters) return line;
  return Array.from(line).slice(0, characters).join('');
}

/** Characters of a name that a message repeats. */
const nameCharacters = 100;

/** A name that a caller sent, for a message: a name may be as long as its body. */
export function shownName(name: string): string {
  return name.length <= nameCharacters ? name : `${previewOf(name, nameCharacters)}…`;
}

/** As much of an input's JSON text as its preview can need. */
export const inputBeginning = 4_096;

/** Members that say what a call acts on, the most telling first. */
const telling = [
  'path',
  'file_path',
  'file',
  'command',
  'url',
  'subject',
  'title',
  'amount',
  'query',
  'name',
  'to',
];
/** Members in a preview, and characters of one of them. */
const maxMembers = 4;
const memberCharacters = 60;
/** Members of what a run was started with: lists of runs are searched by them. */
const maxInputMembers = 10;

/**
 * What a tool call is about, in one line for a list: the members of its input that tell most, as a person would name
 * them, never JSON (D-721). Gets at most `inputBeginning` characters of the JSON text, because inputs may be long and a
 * list has many: of a text that was cut there, the members before the cut are used.
 */
export function toolInputPreview(beginning: string): string | undefined {
  return tellingText(membersOf(beginning), maxMembers);
}

/** The same of an object with which a run was started. What only a number says, it says with its name: `ticket 7`. */
export function runInputPreview(input: JsonObject): string | undefined {
  const members = Object.entries(input).map(([name, value]) => ({
    name,
    value: typeof value === 'number' ? `${name.replaceAll('_', ' ')} ${value}` : value,
  }));
  return tellingText(members, maxInputMembers);
}

function tellingText(members: readonly Member[], most: number): string | undefined {
  const preferred = telling.flatMap((name) => members.filter((member) => member.name === name));
  const others = members.filter(({ name }) => !telling.includes(name));
  const words = [...preferred, ...others].flatMap((member) => wordsOf(member) ?? []);
  return words.length === 0 ? undefined : previewOf(words.slice(0, most).join(' · '));
}

interface Member {
  readonly name: string;
  readonly value: Json | undefined;
}

/** A text of several lines, or a long one, tells something only where its name says what the call acts on. */
function wordsOf({ name, value }: Member): string | undefined {
  if (Array.isArray(value)) return listWords(name, value);
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? name.replaceAll('_', ' ') : undefined;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const isShort = value.length <= memberCharacters && !value.includes('\n');
  if (isShort) return previewOf(value);
  if (!telling.includes(name)) return undefined;
  const line = previewOf(value, memberCharacters);
  return line.length < previewOf(value, memberCharacters + 1).length ? `${line}…` : line;
}

/** `ann@example.com`, `2 recipients`, `60 rows`. */
function listWords(name: string, list: readonly Json[]): string | undefined {
  const [only] = list;
  if (list.length === 0) return undefined;
  if (list.length === 1 && only !== undefined && !Array.isArray(only)) {
    return wordsOf({ name, value: only });
  }
  const noun = name === 'to' ? 'recipients' : name.replaceAll('_', ' ');
  return `${list.length} ${noun}`;
}

/**
 * The members of an object, or those before the place where its text was cut; a list or a text is one without a name.
 */
function membersOf(beginning: string): Member[] {
  const whole = parsed(beginning);
  if (isObject(whole)) return Object.entries(whole).map(([name, value]) => ({ name, value }));
  if (whole !== undefined) return [{ name: 'items', value: whole }];
  const cut = parsed(`${beginning.slice(0, lastEnd(beginning))}}`);
  return isObject(cut) ? Object.entries(cut).map(([name, value]) => ({ name, value })) : [];
}

/** Where the last whole member of the outermost object ends. A text that was cut reaches to the end. */
function lastEnd(text: string): number {
  let depth = 0;
  let end = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\],]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token === ',' && depth === 1) end = index;
  }
  return end;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
