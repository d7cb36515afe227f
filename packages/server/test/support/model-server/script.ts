import { z } from 'zod';

/**
 * The prompt holds the answers of the model server: `@@ say Working && call write_file {"path":"a"} ;; last`.
 * `;;` separates turns, `&&` the steps of a turn; both with a space on either side. The script ends with its line.
 * Turn 1 answers the prompt itself, turn 2 what came back from the tools that turn 1 called, and so on.
 */
export type Step =
  /** Streams the text, one piece per word. */
  | { readonly verb: 'say'; readonly text: string }
  /** Streams `times` words with a pause before each. */
  | { readonly verb: 'slow'; readonly times: number; readonly everyMs: number }
  | { readonly verb: 'call'; readonly tool: string; readonly input: unknown }
  /** `probe A+B`: says whether `AB` is anywhere in the request, where the prompt itself only has `A+B`. */
  | { readonly verb: 'probe'; readonly marker: string }
  /** Says other words, and another number of them, each time: `[7f two words 7f:2]`. See `wholeAnswers`. */
  | { readonly verb: 'chat' }
  /** Says what the tools of the turn before gave back. */
  | { readonly verb: 'last' }
  /** `fail 500 Out of luck`: answers with this HTTP status and these words; only as the first step of a turn. */
  | { readonly verb: 'fail'; readonly status: number; readonly message: string | undefined }
  /** Says nothing more and keeps the connection open. */
  | { readonly verb: 'hang' }
  /** Says the turn again from its beginning when it is asked to continue it. */
  | { readonly verb: 'restart' }
  /** Drops the connection. */
  | { readonly verb: 'cut' };

export type Turn = readonly Step[];

/** The turns a text asks for; `undefined` when it holds no script. */
export function scriptIn(text: string): readonly Turn[] | undefined {
  const line = /@@ (?<script>.*)/.exec(text)?.groups?.['script'];
  return line?.split(' ;; ').map((turn) => turn.split(' && ').map((step) => readStep(step.trim())));
}

function readFailure(rest: string): Step {
  const [, status, message = ''] = /^(\d+)\s*(.*)$/.exec(rest) ?? [];
  return { verb: 'fail', status: count.min(400).parse(status), message: message || undefined };
}

const count = z.coerce.number().int().min(0);

function readStep(step: string): Step {
  const space = step.indexOf(' ');
  const [verb, rest] =
    space === -1 ? [step, ''] : [step.slice(0, space), step.slice(space + 1).trim()];
  switch (verb) {
    case 'say':
      return { verb, text: rest };
    case 'slow': {
      const [times, everyMs] = rest.split(' ');
      return { verb, times: count.parse(times), everyMs: count.parse(everyMs) };
    }
    case 'call': {
      const [, tool = '', input = '{}'] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
      return { verb, tool, input: JSON.parse(input === '' ? '{}' : input) };
    }
    case 'probe':
      return { verb, marker: rest.replaceAll('+', '') };
    case 'fail':
      return readFailure(rest);
    case 'chat':
    case 'last':
    case 'hang':
    case 'cut':
    case 'restart':
      return { verb };
    default:
      throw new Error(`the script has no verb "${verb}"`);
  }
}

/** Replaces each answer of `chat` that is whole: what is left of the two ends is of two answers that were mixed. */
export function wholeAnswers(text: string): string {
  return text.replaceAll(/\[(\w+) ((?:w\d+ )*)\1:(\d+)\]/g, (answer: string) => {
    const words = answer.split(' ').slice(1, -1);
    return answer.endsWith(`:${words.length}]`) ? '[whole]' : answer;
  });
}
