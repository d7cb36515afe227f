import type { RuleTrialSoFar } from '@convoke/sdk';
import { oneLine, print, remark } from '../../../terminal/output.ts';
import { printTable } from '../../../terminal/table.ts';
import { age } from '../../../terminal/times.ts';

/** Prints the changes by a draft of rules, and the rules that no call has met. */
export function printTrial({ calls, changed, rules, changes }: RuleTrialSoFar): void {
  const rows = changes.map((change) => [
    change.run_id,
    change.agent_name,
    change.tool_name,
    `${change.before} → ${change.after}`,
    change.rule,
    `${age(change.at)} ago`,
  ]);
  if (rows.length > 0) {
    printTable(['RUN', 'AGENT', 'TOOL', 'DECISION', 'RULE', 'WHEN'], rows);
    if (changed > rows.length) remark(`and ${changed - rows.length} older ones`);
  }
  const differently = changed === 1 ? '1 is' : `${changed} are`;
  const past = calls === 1 ? '1 past call' : `${calls} past calls`;
  print(`${past}, of which ${differently} decided differently`);
  for (const { name, matched } of rules) {
    if (matched === 0) remark(oneLine(`${name}: no past call meets it`), 'yellow');
  }
}
