import { expect, test } from 'vitest';
import { files, textOf } from './repository.ts';

const pages = files(/^docs\/decisions\/[a-z]+\.md$/);
const rows = pages.flatMap((page) =>
  Array.from(textOf(page).matchAll(/^\| (D-\d+) \|/gm), ([, number = '']) => number),
);
const citing = files(/\.(ts|tsx|mjs|py|sql|md|yaml|sh|patch)$/).filter(
  (path) => !pages.includes(path),
);
const cited = new Map(citing.map((path) => [path, citationsIn(textOf(path))]));

/** `D-80 to D-93` cites every number in between that has a row. */
function citationsIn(text: string): string[] {
  const found = text.matchAll(/\b(D-\d+)(?:(?: to |–)D-(\d+))?\b/g);
  return Array.from(found).flatMap(([, first = '', last]) =>
    last === undefined ? [first] : rangeOf(Number(first.slice(2)), Number(last)),
  );
}

function rangeOf(first: number, last: number): string[] {
  const all = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const known = all.map(nameOf).filter((name) => rows.includes(name));
  return [nameOf(first), nameOf(last), ...known];
}

function nameOf(number: number): string {
  return `D-${String(number).padStart(2, '0')}`;
}

test('every decision has one row', () => {
  expect(rows.filter((number, index) => rows.indexOf(number) !== index)).toEqual([]);
});

test('every decision that is cited has a row', () => {
  const missing = Array.from(cited).flatMap(([path, numbers]) =>
    numbers.filter((number) => !rows.includes(number)).map((number) => `${path}: ${number}`),
  );
  expect(missing).toEqual([]);
});

test('every row is cited where the decision holds', () => {
  const all = new Set(Array.from(cited.values()).flat());
  expect(rows.filter((number) => !all.has(number))).toEqual([]);
});

test('no comment is only a number', () => {
  const bare = /^\s*(?:\/\*\*|\/\/|\*|--)\s*(?:[AD]-\d+[\s,.]*(?:(?:to|and) )?)+(?:\*\/)?$/;
  const found = citing.flatMap((path) =>
    textOf(path)
      .split('\n')
      .flatMap((line, index) => (bare.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});

test('tests and sources cite decisions and the specification, and nothing that is not in the tree', () => {
  // An agent of this guide says the number of an order.
  const saysNumbers = 'packages/server/test/harness/code/guide.alone.test.ts';
  const programs = files(/\.(ts|tsx|mjs|py|sql|sh|patch)$/).filter((path) => path !== saysNumbers);
  expect(
    programs.flatMap((path) => strayCodesIn(textOf(path)).map((at) => `${path}:${at}`)),
  ).toEqual([]);
  expect(
    strayCodesIn(
      `test('a key (${'S'}-13)');\n// Held (D-31, ${'P'}3).\n// Issue ${2} asks for it.`,
    ),
  ).toHaveLength(3);
  expect(strayCodesIn("test('a key (D-31, spec §6)'); sum(A4, 'B2'); // S3 (AWS)")).toEqual([]);
});

/** Codes in brackets alone or among citations, such as those of reviews, and numbers of issues. */
function strayCodesIn(text: string): string[] {
  const bracket =
    /[\p{L}%’'"\x60.)] \(((?:[A-Z]{1,2}-?\d{1,3}|D-\d+|spec §[\d.]+)(?:, (?:[A-Z]{1,2}-?\d{1,3}|D-\d+|spec §[\d.]+))*)\)/gu;
  return text.split('\n').flatMap((line, index) => {
    const codes = Array.from(line.matchAll(bracket)).flatMap(([, inside = '']) =>
      inside.split(', '),
    );
    // Invariants of the kits (L1) are in packages/agent/DESIGN.md, and a test there holds them.
    const isStray =
      codes.some((code) => !/^(D-|spec|L\d)/.test(code)) || /\bissue \d+\b/i.test(line);
    return isStray ? [`${index + 1}: ${line.trim()}`] : [];
  });
}
