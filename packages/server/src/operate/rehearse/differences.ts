import type { PlayedRun } from './play-run.ts';
import type { CarriedOut, Reading } from './rehearsed-run.ts';

type Counts = ReadonlyMap<string, number>;

/** What undisturbed runs of a program have in common: a disturbed one is compared with that and nothing else. */
export interface ExpectedOutcome {
  /** How often each effect is carried out at most. */
  readonly effects: Counts;
  /** What counts as the same effect: the name, or with another number of calls in each run the input, too. */
  readonly effectOf: (call: CarriedOut) => string;
  /** How many runs of each other agent it starts at most. */
  readonly started: Counts;
  /** How often a person is asked each question, as JSON. */
  readonly asked: Counts | undefined;
  readonly outcome: string | undefined;
  readonly text: string | undefined;
  /** What it returned, as JSON. */
  readonly output: string | undefined;
  readonly state: string | undefined;
  readonly files: ReadonlyMap<string, string> | undefined;
  /** What differs from run to run, whatever happens: it is not compared. */
  readonly changing: readonly string[];
}

/**
 * Two undisturbed runs show what is the same each time: the words of a model, and the time in a file, are not (D-355).
 */
export function expectedOf(one: PlayedRun, other: PlayedRun): ExpectedOutcome {
  const changing: string[] = [];
  const same = <T>(what: string, [a, b]: readonly [T, T]): T | undefined => {
    if (JSON.stringify(a) === JSON.stringify(b)) return a;
    changing.push(what);
    return undefined;
  };
  const sameCounts = (what: string, [a, b]: readonly [Counts, Counts]) =>
    same(what, [sorted(a), sorted(b)]) && a;
  const runs = [one.run.carriedOut, other.run.carriedOut];
  const [a, b] = runs.map((calls) => JSON.stringify([...countsOf(calls, byName)]));
  const effectOf = a === b ? byName : byNameAndInput;
  return {
    effects: mostOf(runs.map((calls) => countsOf(calls, effectOf))),
    effectOf,
    started: mostOf([startedBy(one), startedBy(other)]),
    asked: sameCounts('the questions', [askedOf(one), askedOf(other)]),
    outcome: same('the outcome', [one.run.end?.outcome, other.run.end?.outcome]),
    text: same('the text', [one.run.text, other.run.text]),
    output: same('the output', [outputOf(one), outputOf(other)]),
    state: same('the state', [stateOf(one), stateOf(other)]),
    files: sameFiles(one, other, changing),
    changing,
  };
}

function sameFiles(one: PlayedRun, other: PlayedRun, changing: string[]): ExpectedOutcome['files'] {
  if (one.files === undefined || other.files === undefined) return undefined;
  const paths = new Set([...one.files.keys(), ...other.files.keys()]);
  const same = new Map<string, string>();
  for (const path of paths) {
    const digest = one.files.get(path);
    if (digest !== undefined && digest === other.files.get(path)) same.set(path, digest);
    else changing.push(path);
  }
  return same;
}

/** What a disturbed run did that an undisturbed one does not, one sentence each. */
export function differencesIn(
  { run, files }: PlayedRun,
  { expected, reading }: { readonly expected: ExpectedOutcome; readonly reading: Reading },
): string[] {
  const problems: string[] = [];
  for (const [effect, times] of countsOf(run.carriedOut, expected.effectOf)) {
    const once = expected.effects.get(effect) ?? 1;
    if (times > once) problems.push(`${effect} ran ${times} times instead of ${once}`);
  }
  for (const [agent, times] of startedBy({ run })) {
    const once = expected.started.get(agent) ?? (run.doubts === 0 ? 0 : 1);
    if (times > once) problems.push(`"${agent}" was called ${times} times instead of ${once}`);
  }
  const other = run.events.find(({ name }) => name === 'replay_differs');
  if (other !== undefined) {
    const left = JSON.stringify(other.data['left_over'] ?? []);
    problems.push(
      `the replay did not ask for the results of ${left} (replay_differs). The code between steps must do the same in every leg.`,
    );
  }
  // A person who says that a call was carried out leads the program elsewhere; a run may also be lost with its process.
  if ((run.doubts > 0 && reading === 'done') || run.end?.isLoss === true) return problems;
  for (const [asked, times] of expected.asked === undefined ? [] : askedOf({ run })) {
    const once = expected.asked?.get(asked) ?? 0;
    if (times > once)
      problems.push(`a person was asked ${times} times instead of ${once}: ${cut(asked)}`);
  }
  const { outcome, message } = run.end ?? {};
  if (expected.outcome !== undefined && outcome !== expected.outcome) {
    const why = message === undefined ? '' : ` (${message})`;
    return [...problems, `it ended ${outcome}${why} instead of ${expected.outcome}`];
  }
  if (expected.text !== undefined && run.text !== expected.text) {
    problems.push(`its text was ${shown(run.text)} instead of ${shown(expected.text)}`);
  }
  const output = outputOf({ run });
  if (expected.output !== undefined && output !== expected.output) {
    problems.push(`its output was ${cut(output)} instead of ${cut(expected.output)}`);
  }
  const state = stateOf({ run });
  if (expected.state !== undefined && state !== expected.state) {
    problems.push(`its state was ${cut(state)} instead of ${cut(expected.state)}`);
  }
  // A call that was carried out, and of which the person says the contrary, has changed files twice.
  if (run.doubts === 0) problems.push(...changedFiles(files, expected.files));
  return problems;
}

function changedFiles(files: PlayedRun['files'], expected: ExpectedOutcome['files']): string[] {
  if (files === undefined || expected === undefined) return [];
  return [...expected]
    .filter(([path, digest]) => files.get(path) !== digest)
    .map(([path]) =>
      files.has(path)
        ? `the content of ${path} differs. Perhaps an effect that is not in a step ran twice.`
        : `${path} is missing`,
    );
}

function byName({ name }: CarriedOut): string {
  return `"${name}"`;
}

function byNameAndInput({ name, input }: CarriedOut): string {
  return `"${name}" with ${cut(JSON.stringify(input))}`;
}

/** A person who has answered is not asked again: the answer is stored. */
function askedOf({ run }: Pick<PlayedRun, 'run'>): Counts {
  return counted(run.asked.map((each) => JSON.stringify(each)));
}

/** A run that was called is found again. */
function startedBy({ run }: Pick<PlayedRun, 'run'>): Counts {
  return counted(run.started.map(({ agent }) => agent));
}

function counted(all: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const each of all) counts.set(each, (counts.get(each) ?? 0) + 1);
  return counts;
}

function sorted(counts: Counts): readonly string[] {
  return [...counts].map(([text, times]) => `${times} ${text}`).sort();
}

/** How often calls were carried out that must not be repeated. */
function countsOf(calls: readonly CarriedOut[], effectOf: ExpectedOutcome['effectOf']): Counts {
  return counted(calls.filter(({ isRepeatable }) => !isRepeatable).map(effectOf));
}

function mostOf(runs: readonly Counts[]): Counts {
  const most = new Map<string, number>();
  for (const counts of runs) {
    for (const [effect, times] of counts) {
      most.set(effect, Math.max(times, most.get(effect) ?? 0));
    }
  }
  return most;
}

function stateOf({ run }: Pick<PlayedRun, 'run'>): string {
  return JSON.stringify(run.comparedState ?? null);
}

function outputOf({ run }: Pick<PlayedRun, 'run'>): string {
  return run.end?.output === undefined ? 'nothing' : JSON.stringify(run.end.output);
}

const shownMax = 160;

function shown(text: string): string {
  return cut(JSON.stringify(text));
}

function cut(text: string): string {
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}…`;
}
