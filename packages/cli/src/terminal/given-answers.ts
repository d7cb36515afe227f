import { printable } from '@convoke/faces/printable';
import type { InteractionRecord, PermissionAnswer, QuestionDeclined } from '@convoke/sdk';
import { remark } from './output.ts';

type GivenAnswer = string | string[] | QuestionDeclined;

const answersMax = 1000;

/**
 * What a person has answered, by what was shown: the next run that asks the same gets the same answer. A question about
 * a call in doubt is never one of them, since its answer is about one moment (D-84).
 */
export class GivenAnswers {
  readonly #permissions = new Map<string, PermissionAnswer>();
  readonly #answers = new Map<string, GivenAnswer>();

  permission({ tool_name, tool_input }: InteractionRecord): PermissionAnswer | undefined {
    const given = this.#permissions.get(keyOf(tool_name, tool_input));
    if (given !== undefined) tell(`${tool_name}: ${given.decision}`);
    return given;
  }

  keepPermission({ tool_name, tool_input }: InteractionRecord, answer: PermissionAnswer): void {
    keep(this.#permissions, keyOf(tool_name, tool_input), answer);
  }

  answer({ question, options, about }: InteractionRecord): GivenAnswer | undefined {
    if (about !== undefined) return undefined;
    const given = this.#answers.get(keyOf(question, options));
    if (given === undefined) return undefined;
    const words = typeof given === 'object' && 'declined' in given ? 'declined' : String(given);
    tell(`${question} ${words}`);
    return given;
  }

  keepAnswer({ question, options, about }: InteractionRecord, answer: GivenAnswer): void {
    if (about === undefined) keep(this.#answers, keyOf(question, options), answer);
  }
}

function keep<T>(map: Map<string, T>, key: string, answer: T): void {
  if (map.size < answersMax) map.set(key, answer);
}

function keyOf(name: string | undefined, shown: unknown): string {
  return `${name} ${JSON.stringify(shown)}`;
}

function tell(text: string): void {
  remark(printable(`as before: ${text}`), 'dim');
}
