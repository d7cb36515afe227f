import type { Json } from '@convoke/sdk';
import { plural } from './formats.ts';

/** Above this a value is shown as its beginning, with a download. */
export const maxShownCharacters = 64 * 1024;

export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}

const textMember = /^(\s*)("(?:[^"\\]|\\.)*": )?("(?:[^"\\]|\\.)*")(,?)$/;

/**
 * The same to be compared: a text of several lines is written as lines, so that a change is seen where it is. A bar
 * stands before each of them, which no member of an object has: a text cannot pass for one.
 */
export function comparableText(value: unknown): string {
  return jsonText(value)
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', name = '', text = '', end = ''] = textMember.exec(line) ?? [];
      const lines = text.includes('\\n') ? String(JSON.parse(text)).split('\n') : [];
      if (lines.length < 2) return [line];
      const shown = lines.map((each) => JSON.stringify(each).slice(1, -1).replaceAll('\\"', '"'));
      return [`${indent}${name}|${end}`, ...shown.map((each) => `${indent}  │ ${each}`)];
    })
    .join('\n');
}

/** The text of a value in parts that a page can draw one at a time. No part ends inside a character. */
export function jsonParts(value: unknown): readonly string[] {
  const text = jsonText(value);
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > maxShownCharacters) {
    const end = start + maxShownCharacters;
    const isInside = /[\ud800-\udbff]/.test(text.charAt(end - 1));
    parts.push(text.slice(start, isInside ? end - 1 : end));
    start += parts.at(-1)?.length ?? 0;
  }
  return [...parts, text.slice(start)];
}

/** One line about a value: for a closed branch, a row of a list, a preview. */
export function jsonSummary(value: Json | undefined, max = 80): string {
  const text = summary(value);
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

function summary(value: Json | undefined): string {
  if (value === undefined) return '';
  if (value === null || typeof value !== 'object') {
    return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : String(value);
  }
  if (Array.isArray(value)) return plural(value.length, 'item');
  return Object.entries(value)
    .slice(0, 6)
    .map(([key, member]) => `${key}: ${shallow(member)}`)
    .join(', ');
}

function shallow(value: Json | undefined): string {
  if (value !== null && typeof value === 'object') {
    return Array.isArray(value) ? plural(value.length, 'item') : '…';
  }
  return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : String(value);
}

type JsonObjectValue = { readonly [member: string]: Json | undefined };

export type JsonObjectText =
  | { readonly ok: true; readonly value: JsonObjectValue }
  | { readonly ok: false; readonly reason: string };

/** Parses the typed input of a tool or an agent, which must be an object. */
export function parsedObject(text: string): JsonObjectText {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : 'Not valid JSON.' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, reason: 'Must be a JSON object: { … }.' };
  }
  return { ok: true, value: value as { readonly [member: string]: Json } };
}

/** An input whose members are texts, numbers and truth values only. */
export type FlatInput = Readonly<Record<string, string | number | boolean>>;

/** More members than this are edited as JSON. */
const maxFields = 12;

export function flatInput(value: JsonObjectValue): FlatInput | undefined {
  const entries = Object.entries(value);
  const isFlat = entries.every(([, member]) =>
    ['string', 'number', 'boolean'].includes(typeof member),
  );
  return isFlat && entries.length > 0 && entries.length <= maxFields
    ? (value as FlatInput)
    : undefined;
}
