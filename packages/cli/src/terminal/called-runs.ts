import { type CallNode, callTree } from '@convoke/faces';
import type { RunSummary } from '@convoke/sdk';
import { oneLine, print, remark } from './output.ts';
import { waitOf } from './show-run.ts';
import { printRows } from './table.ts';
import { age } from './times.ts';

/** How many called runs are shown with their caller. */
export const callsShown = 100;

/** Prints the runs below a run as a tree, with what each waits for: the reason why a run that calls others is stuck. */
export function printCalls(id: string, called: readonly RunSummary[]): void {
  if (called.length === 0) return;
  print('');
  const shown = called.slice(0, callsShown);
  printRows(['CALLED RUN', 'AGENT', 'STATUS', 'WAITS FOR'], rowsOf(callTree(shown), ''));
  if (called.length > callsShown) {
    remark(`(the first ${callsShown}; all of them: runs list --below ${id})`, 'dim');
  }
}

/** The branches stand before the agent, so that ids can be cut as in any table. */
function rowsOf(nodes: readonly CallNode<RunSummary>[], stem: string): readonly string[][] {
  return nodes.flatMap(({ run, calls }, at) => {
    const isLast = at === nodes.length - 1;
    const agent = `${stem}${isLast ? '└ ' : '├ '}${oneLine(run.agent_name)}`;
    const row = [run.id, agent, run.status, oneLine(waitsOf(run))];
    return [row, ...rowsOf(calls, `${stem}${isLast ? '  ' : '│ '}`)];
  });
}

/** What needs a person comes first: nothing else ends it. */
function waitsOf({ waiting_on: waits = [] }: RunSummary): string {
  const people = waits.filter(({ kind }) => kind === 'interaction');
  const needed = people.map(({ name, since }) => `a person (${name}) since ${age(since)}`);
  const others = waits.flatMap(({ kind, ...wait }) =>
    kind === 'interaction' ? [] : [waitOf({ kind, ...wait })],
  );
  return [...needed, ...others].join('; ');
}
