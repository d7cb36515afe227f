/** A called run, with the runs that it has called. */
export interface CallNode<Run> {
  readonly run: Run;
  readonly calls: readonly CallNode<Run>[];
}

interface TreeRun {
  readonly id: string;
  readonly parent_run_id?: string | undefined;
}

/**
 * Orders the runs of a list of called runs as they have called each other. One whose caller is not in the list is on
 * top: its caller is the run that the list was asked for, or stands on another page.
 */
export function callTree<Run extends TreeRun>(runs: readonly Run[]): readonly CallNode<Run>[] {
  const ids = new Set(runs.map(({ id }) => id));
  const called = new Map<string, Run[]>();
  const top: Run[] = [];
  for (const run of runs) {
    const { parent_run_id: caller = '' } = run;
    if (!ids.has(caller)) top.push(run);
    else called.set(caller, [...(called.get(caller) ?? []), run]);
  }
  const nodeOf = (run: Run): CallNode<Run> => ({
    run,
    calls: (called.get(run.id) ?? []).map(nodeOf),
  });
  return top.map(nodeOf);
}

interface AskedByCalled {
  readonly agent_name: string;
  readonly parent_run_id?: string | undefined;
  readonly parent_agent_name?: string | undefined;
}

/** The agent that asks, and for which other agent it works: `researcher, called by planner`. */
export function nameWithCaller(asked: AskedByCalled): string {
  const { agent_name: name, parent_run_id: caller, parent_agent_name: of } = asked;
  return caller === undefined ? name : `${name}, called by ${of ?? 'another run'}`;
}
