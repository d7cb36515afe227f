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
    if (known !== undefined) lines.push(...(await linesOf(known, '-')));
    lines.push(...(await linesOf(rule, '+')));
  }
  const order = (list: Rules) => list.map(({ name }) => name).join(', ');
  const isMoved = order(before.filter(isIn(next))) !== order(after.filter(isIn(old)));
  if (isMoved) lines.push({ text: `  order: ${order(after)}`, style: 'dim' });
  return lines;
}

function isIn(rules: ReadonlyMap<string, Rule>): (rule: Rule) => boolean {
  return ({ name }) => rules.has(name);
}

/** A file was not checked: a rule without a name is shown by its position. */
function byName(rules: Rules): ReadonlyMap<string, Rule> {
  return new Map(rules.map((rule, index) => [rule?.name ?? `rules[${index}]`, rule]));
}

async function linesOf(rule: Rule, mark: '-' | '+'): Promise<DifferenceLine[]> {
  const text = (await yamlOf([rule])).trimEnd();
  const style = mark === '-' ? 'red' : 'green';
  return text.split('\n').map((line) => ({ text: `${mark} ${line}`, style }));
}
