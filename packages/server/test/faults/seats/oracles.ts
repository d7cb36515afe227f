import { isTerminalEventType } from '@convoke/contract';
import { RunText, interruptedText } from '@convoke/faces';
import { allDeltas } from '../support/run-log.ts';
import { wholeText } from './actor-harness.ts';
import type { Outcome, Started } from './seat-world.ts';

/** What a run must never do, whatever happened to its servers. Returns one line for each violation. */
export function violationsOf({ prompt, kind }: Started, outcome: Outcome): string[] {
  const { run, log, text, effects, repeats, asked } = outcome;
  const types = log.map(({ type }) => type);
  const count = (type: string) => types.filter((each) => each === type).length;
  const interruptions = count('run_interrupted');
  const claims: readonly [boolean, string][] = [
    [run.outputText === text || run.outputText === null, `readers join ${text}, not output_text`],
    [joinedLate(outcome), 'a reader that joins after the loss reads something else'],
    [types.filter(isTerminalEventType).length === 1, 'it has not exactly one terminal event'],
    [isTerminalEventType(types.at(-1) ?? ''), 'events follow its end'],
    [kind === 'repeatable' || effects <= 1 + repeats, `${effects} effects, ${repeats} answers`],
    [kind !== 'repeatable' || asked === 0, 'it asked about a call that may be repeated'],
    [effects <= 1 + run.lossesTotal, `${effects} effects after ${run.lossesTotal} losses`],
    [run.status !== 'completed' || !outcome.calls.includes('begun'), 'a call has no result'],
    [run.status !== 'completed' || text === wholeText, `its answer is ${text}`],
    [
      kind === 'repeatable' || outcome.saidText === text,
      `plain readers join ${outcome.saidText}, not ${text}`,
    ],
    [endsDiscarded(outcome), 'discarded text does not end with a word about it'],
    [hasConsecutiveIds(outcome), 'its log has a gap'],
    [resumptions(outcome) <= interruptions, 'it was resumed without an interruption'],
    [
      run.status !== 'completed' || recoveredOf(outcome) === run.lossesTotal > 0,
      'its end does not say whether it was recovered',
    ],
  ];
  return claims.flatMap(([holds, what]) => (holds ? [] : [`${prompt}: ${what}`]));
}

/** How often it went on after an interruption; after an answer it is resumed too. */
function resumptions({ log }: Outcome): number {
  return log.filter(({ type, data }) => type === 'run_resumed' && data['reason'] !== 'answered')
    .length;
}

/** A reader that cannot cut reads the run after an interruption, and then the deltas that follow. */
function joinedLate({ log, run }: Outcome): boolean {
  const last = log.findLastIndex(({ type }) => type === 'run_interrupted');
  if (last < 0 || run.outputText === null) return true;
  const kept = new RunText();
  for (const event of log.slice(0, last + 1)) kept.take(event);
  return kept.text + allDeltas(log.slice(last + 1)) === run.outputText;
}

/** Each interruption that discards something comes right behind the server's own delta, and no other does. */
function endsDiscarded({ log }: Outcome): boolean {
  return log.every(
    ({ data }, index) =>
      (data['discard_from_event_id'] !== undefined) ===
      (log[index - 1]?.data['text'] === interruptedText),
  );
}

function hasConsecutiveIds({ log }: Outcome): boolean {
  return log.every(({ id }, index) => Number(id) === index + 1);
}

function recoveredOf({ log }: Outcome): boolean {
  return log.at(-1)?.data['recovered'] === true;
}
