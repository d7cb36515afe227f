import type { Answer, RehearsedInteraction } from '@convoke/server';
import { Failure } from '../../../failure.ts';
import type { Asking } from '../../../terminal/ask.ts';
import { chooseOptions } from '@convoke/faces';
import { endLine, isInteractive } from '../../../terminal/output.ts';
import { askPermission, askQuestion } from '../../../terminal/person-answers.ts';

/** The answers in the options of the command. */
export interface Answers {
  readonly approve?: 'allow' | 'deny';
  readonly answer?: readonly string[];
}

interface Answering extends Answers {
  readonly json: boolean;
  readonly signal: AbortSignal;
  /** Ends the rehearsal. */
  readonly stop: () => void;
}

type Permission = Extract<RehearsedInteraction, { kind: 'permission' }>;
type Question = Extract<RehearsedInteraction, { kind: 'question' }>;

/** Answers as the options say, else as the person at the terminal says. Rejects where there is neither. */
export function answersIn(answering: Answering): (asked: RehearsedInteraction) => Promise<Answer> {
  const texts = [...(answering.answer ?? [])];
  const isAttended = isInteractive() && !answering.json;
  const person = isAttended
    ? { signal: answering.signal, interrupts: interruptsOf(answering) }
    : undefined;
  return (asked) => {
    endLine();
    return asked.kind === 'permission'
      ? permissionFor(asked, answering, person)
      : answerTo(asked, texts.shift(), person);
  };
}

async function permissionFor(
  { toolName, toolInput }: Permission,
  { approve }: Answering,
  person: Asking | undefined,
): Promise<Answer> {
  const denied = { kind: 'permission', allow: false } as const;
  if (approve === 'deny') return denied;
  if (approve === 'allow') return { kind: 'permission', allow: true, input: toolInput };
  const request = { tool_name: toolName, tool_input: toolInput };
  const said = person && (await askPermission(request, person));
  if (said === undefined) {
    throw unanswered(`permission to run ${toolName}`, person ? undefined : '--approve allow');
  }
  if (said.decision === 'allow') {
    return { kind: 'permission', allow: true, input: said.updated_input ?? toolInput };
  }
  return said.message === undefined ? denied : { ...denied, reason: said.message };
}

async function answerTo(
  { question, options, multiple }: Question,
  text: string | undefined,
  person: Asking | undefined,
): Promise<Answer> {
  if (text !== undefined) {
    const chosen = chooseOptions(text, { options, multiple });
    if (typeof chosen === 'object' && 'problem' in chosen) {
      throw new Failure(`--answer ${text}: ${chosen.problem}`);
    }
    return { kind: 'question', values: valuesOf(chosen) };
  }
  const said = person && (await askQuestion({ question, options: [...options], multiple }, person));
  if (said === undefined)
    throw unanswered(`an answer to: ${question}`, person ? undefined : '--answer');
  if (typeof said === 'object' && 'declined' in said) return { kind: 'question', declined: true };
  return { kind: 'question', values: valuesOf(said) };
}

function valuesOf(chosen: string | readonly string[]): readonly string[] {
  return typeof chosen === 'string' ? [chosen] : chosen;
}

/** A rehearsal keeps nothing, so a person who wants to answer later has ended it. */
function unanswered(what: string, option: string | undefined): Failure {
  if (option === undefined) {
    return new Failure(`ended: the agent waits for ${what}, and a rehearsal cannot wait for later`);
  }
  return new Failure(`the agent waits for ${what}. Pass ${option}, or answer at a terminal`);
}

/** At a question Ctrl-C reaches the line that is read, and ends the rehearsal too. */
function interruptsOf({ stop }: Answering): Asking['interrupts'] {
  return {
    raise: async () => {
      stop();
      return 'over';
    },
    settled: async () => undefined,
    yieldTo: (program) => program(),
    stop: () => {},
  };
}
