import type { Answer } from '../../ports/harness.ts';
import { differencesIn, expectedOf } from './differences.ts';
import {
  type PlayOptions,
  type PlayedRun,
  type KillPoint,
  type Stage,
  playRun,
} from './play-run.ts';
import type { RehearsedInteraction, Reading } from './rehearsed-run.ts';

/** How a program took it to be killed at every moment. */
export interface KillReport {
  /** Lines of the undisturbed run. */
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
  const answers = new GivenAnswers(options.answer);
  const undisturbed = await playRun(stage, { ...options, answer: answers.forRun() });
  const quiet = () => ({
    input: options.input,
    signals: options.signals ?? [],
    calls: options.calls ?? new Map<string, string>(),
    signal: options.signal,
    answer: answers.forRun(),
  });
  const expected = expectedOf(undisturbed, await playRun(stage, quiet()));
  const lines = undisturbed.lines.length;
  const findings = new Findings();
  const counts = { runs: 0, doubts: 0, lost: 0 };

  const disturb = async (killPoint: KillPoint, reading: Reading): Promise<boolean> => {
    const played = await playRun(stage, quiet(), { killPoint, reading });
    const { run } = played;
    counts.runs += 1;
    if (run.doubts > 0) counts.doubts += 1;
    if (run.end?.isLoss === true) counts.lost += 1;
    const said = run.doubts === 0 ? '' : `, and a person says that the call was ${reading}`;
    const where = `${killPoint.fate} line ${killPoint.line + 1} (${undisturbed.lines[killPoint.line]})${said}`;
    for (const problem of differencesIn(played, { expected, reading })) {
      findings.add(problem, where);
    }
    return run.doubts > 0;
  };

  const killPoints = Math.min(lines, linesTriedMax) * fates.length;
  let tried = 0;
  try {
    for (; tried < killPoints; tried += 1) {
      const fate = fates[tried % fates.length] ?? 'killed before';
      onProgress({ killPoint: tried + 1, killPoints });
      const killPoint = { line: Math.floor(tried / fates.length), fate };
      if (await disturb(killPoint, 'done')) await disturb(killPoint, 'not done');
    }
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
  const { changing } = expected;
  const triedLines = Math.floor(tried / fates.length);
  const report = { lines, triedLines, ...counts, changing, problems: findings.all() };
  return { undisturbed, report };
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

/** Gives the answers of the first run in all others: to the same question the same, the second time the second. */
class GivenAnswers {
  readonly #ask: (asked: RehearsedInteraction) => Promise<Answer>;
  readonly #given = new Map<string, Answer[]>();

  constructor(ask: (asked: RehearsedInteraction) => Promise<Answer>) {
    this.#ask = ask;
  }

  forRun(): (asked: RehearsedInteraction) => Promise<Answer> {
    const used = new Map<string, number>();
    return async (asked) => {
      const key = JSON.stringify(asked);
      const index = used.get(key) ?? 0;
      used.set(key, index + 1);
      const given = this.#given.get(key) ?? [];
      const answer = given[index] ?? (await this.#ask(asked));
      given[index] = answer;
      this.#given.set(key, given);
      return answer;
    };
  }
}
