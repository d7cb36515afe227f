import { isDeepStrictEqual } from 'node:util';
import { type Rules, yamlOf } from './file.ts';

export interface DifferenceLine {
  readonly text: string;
  readonly style: 'red' | 'green' | 'dim';
}

type Rule = Rules[number];

/** The rules that a new list removes, adds, changes or moves, for a person who decides about it. */
export async function differenceOf(before: Rules, after: Rules): Promise<DifferenceLine[]> {
  const [old, next] = [byName(before), byName(after)];
  const lines: DifferenceLine[] = [];
  for (const [name, rule] of old) {
    if (!next.has(name)) lines.push(...(await linesOf(rule, '-')));
  }
  for (const [name, rule] of next) {
    const known = old.get(name);
    if (isDeepStrictEqual(known, rule)) continue;
    if (known === undefined) lines.push(...(await linesOf(rule, '+')));
    else lines.push(...(await changedLines(known, rule)));
  }
  const order = (list: Rules) => list.map((rule) => rule?.name).join(', ');
  const isMoved = order(before.filter(isIn(next))) !== order(after.filter(isIn(old)));
  if (isMoved) lines.push({ text: `  order: ${order(after)}`, style: 'dim' });
  return lines;
}

function isIn(rules: ReadonlyMap<string, Rule>): (rule: Rule) => boolean {
  return (rule) => rules.has(rule?.name);
}

/** A file was not checked: a rule without a name is shown by its position. */
function byName(rules: Rules): ReadonlyMap<string, Rule> {
  return new Map(rules.map((rule, index) => [rule?.name ?? `rules[${index}]`, rule]));
}

/** A rule with what is new in it, between the lines that stay. */
async function changedLines(before: Rule, after: Rule): Promise<DifferenceLine[]> {
  const [old, next] = [await textOf(before), await textOf(inOrderOf(before, after))];
  const shorter = Math.min(old.length, next.length);
  let head = 0;
  while (head < shorter && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  return [
    ...marked(old.slice(0, head), ' '),
    ...marked(old.slice(head, old.length - tail), '-'),
    ...marked(next.slice(head, next.length - tail), '+'),
    ...marked(old.slice(old.length - tail), ' '),
  ];
}

/** The server returns the keys of a rule in its own order, which is no change. */
function inOrderOf(before: Rule, after: Rule): Rule {
  const known = Object.keys(before).filter((key) => key in after);
  return { ...Object.fromEntries(known.map((key) => [key, undefined])), ...after };
}

async function linesOf(rule: Rule, mark: '-' | '+'): Promise<DifferenceLine[]> {
  return marked(await textOf(rule), mark);
}

async function textOf(rule: Rule): Promise<string[]> {
  return (await yamlOf([rule])).trimEnd().split('\n');
}

const styles = { '-': 'red', '+': 'green', ' ': 'dim' } as const;

function marked(lines: readonly string[], mark: keyof typeof styles): DifferenceLine[] {
  return lines.map((line) => ({ text: `${mark} ${line}`, style: styles[mark] }));
}
