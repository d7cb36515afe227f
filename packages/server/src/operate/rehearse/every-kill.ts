import { type ExpectedOutcome, differencesIn, expectedOf } from './differences.ts';
import {
  type PlayOptions,
  type PlayedRun,
  type KillPoint,
  type Stage,
  playRun,
} from './play-run.ts';
import type { Coming, Reading } from './rehearsed-run.ts';

/** How a program took it to be killed at every moment. */
export interface KillReport {
  /** Lines of the undisturbed runs. */
  readonly lines: number;
  /** Lines at which it was killed and handed over: not all if there are very many, or if it was stopped. */
  readonly triedLines: number;
  /** Disturbed runs. */
  readonly runs: number;
  /** Runs in which it was not known whether a call had been carried out. */
  readonly doubts: number;
  /** Runs that ended with the loss of their process, as the agent's `recovery` says. */
  readonly lost: number;
  /** What differs from run to run and was not compared. */
  readonly changing: readonly string[];
  readonly problems: readonly KillProblem[];
}

export interface KillProblem {
  readonly problem: string;
  /** What happened to the program, the first few of them. */
  readonly where: readonly string[];
  /** How many there are. */
  readonly times: number;
}

export interface KillProgress {
  readonly killPoint: number;
  readonly killPoints: number;
}

/** More lines take hours: each costs three runs. */
const linesTriedMax = 2000;
const problemsMax = 50;
const placesMax = 3;
const fates = ['killed before', 'killed after', 'handed over after'] as const;

/**
 * Runs a program undisturbed, and then once for each moment: killed before and after each of its lines, and asked at
 * each to hand over. Where it is not known whether a call was carried out, both answers are tried (D-187, D-188). It
 * can be stopped in the middle and then reports what was tried, since a program that loads slowly takes minutes
 * (D-450).
 */
export async function everyKill(
  stage: Stage,
  options: PlayOptions,
  onProgress: (progress: KillProgress) => void,
): Promise<{ readonly undisturbed: PlayedRun; readonly report: KillReport }> {
  const saidFor = personOf(options);
  const undisturbed = await playRun(stage, { ...options, ...saidFor() });
  const { show: _, ...unseen } = options;
  const quiet = () => ({ ...unseen, ...saidFor() });
  const compared = [await comparisonOf(undisturbed, () => playRun(stage, quiet()), 'one')];
  // What a run waits for may come one by one, or much of it before a worker is free.
  if (undisturbed.run.hasWaitedForSeveral) {
    const played = () => playRun(stage, quiet(), { come: 'all' });
    compared.push(await comparisonOf(await played(), played, 'all'));
  }
  const findings = new Findings();
  const counts = { runs: 0, doubts: 0, lost: 0 };

  const disturb = async (
    { come, expected, played: { lines } }: Comparison,
    killPoint: KillPoint,
    reading: Reading,
  ): Promise<boolean> => {
    const played = await playRun(stage, quiet(), { come, killPoint, reading });
    const { run } = played;
    counts.runs += 1;
    if (run.doubts > 0) counts.doubts += 1;
    if (run.end?.isLoss === true) counts.lost += 1;
    const said = run.doubts === 0 ? '' : `, and a person says that the call was ${reading}`;
    const together = come === 'all' ? ', with everything that it waits for come at once' : '';
    const where = `${killPoint.fate} line ${killPoint.line + 1} (${lines[killPoint.line]})${said}${together}`;
    for (const problem of differencesIn(played, { expected, reading })) {
      findings.add(problem, where);
    }
    return run.doubts > 0;
  };

  const killPoints = compared.flatMap((comparison) =>
    killPointsOf(comparison).map((killPoint) => ({ comparison, killPoint })),
  );
  let tried = 0;
  try {
    for (const { comparison, killPoint } of killPoints) {
      onProgress({ killPoint: tried + 1, killPoints: killPoints.length });
      if (await disturb(comparison, killPoint, 'done')) {
        await disturb(comparison, killPoint, 'not done');
      }
      tried += 1;
    }
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
  const report = {
    lines: compared.reduce((sum, { played }) => sum + played.lines.length, 0),
    triedLines: Math.floor(tried / fates.length),
    ...counts,
    changing: [...new Set(compared.flatMap(({ expected }) => expected.changing))],
    problems: findings.all(),
  };
  return { undisturbed, report };
}

/** What disturbed runs are compared with, where what they wait for comes in the same way. */
interface Comparison {
  readonly come: Coming;
  readonly played: PlayedRun;
  readonly expected: ExpectedOutcome;
}

async function comparisonOf(
  played: PlayedRun,
  playAgain: () => Promise<PlayedRun>,
  come: Coming,
): Promise<Comparison> {
  return { come, played, expected: expectedOf(played, await playAgain()) };
}

function killPointsOf({ played: { lines } }: Comparison): readonly KillPoint[] {
  return lines
    .slice(0, linesTriedMax)
    .flatMap((_, line) => fates.map((fate): KillPoint => ({ line, fate })));
}

/** One entry for each problem: most are found at many kill points. */
class Findings {
  readonly #found = new Map<string, { readonly where: string[]; times: number }>();

  add(problem: string, where: string): void {
    const known = this.#found.get(problem);
    if (known === undefined) {
      if (this.#found.size < problemsMax) this.#found.set(problem, { where: [where], times: 1 });
      return;
    }
    known.times += 1;
    if (known.where.length < placesMax) known.where.push(where);
  }

  all(): KillProblem[] {
    return Array.from(this.#found, ([problem, { where, times }]) => ({ problem, where, times }));
  }
}

/** Who says in each run what was said in the first one. */
function personOf({ answer, message, called }: PlayOptions): () => Pick<PlayOptions, Said> {
  const answers = new Repeated(answer);
  const messages = message && new Repeated(message);
  const texts = called && new Repeated(called);
  return () => ({
    answer: answers.forRun(),
    ...(messages && { message: messages.forRun() }),
    ...(texts && { called: texts.forRun() }),
  });
}

type Said = 'answer' | 'message' | 'called';

/** Says in all runs what was said in the first: to the same question the same, the second time the second. */
class Repeated<Asked, Answered> {
  readonly #ask: (asked: Asked) => Promise<Answered>;
  readonly #given = new Map<string, { readonly said: Answered }[]>();

  constructor(ask: (asked: Asked) => Promise<Answered>) {
    this.#ask = ask;
  }

  forRun(): (asked: Asked) => Promise<Answered> {
    const used = new Map<string, number>();
    return async (asked) => {
      const key = JSON.stringify(asked);
      const index = used.get(key) ?? 0;
      used.set(key, index + 1);
      const given = this.#given.get(key) ?? [];
      const answer = given[index] ?? { said: await this.#ask(asked) };
      given[index] = answer;
      this.#given.set(key, given);
      return answer.said;
    };
  }
}
