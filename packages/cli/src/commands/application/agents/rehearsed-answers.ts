import type { Json } from '@convoke/contract';
import { chooseOptions } from '@convoke/faces';
import { printable } from '@convoke/faces/printable';
import type {
  Answer,
  CalledAgents,
  CalledAnswer,
  Outside,
  RehearsedInteraction,
} from '@convoke/server';
import { Failure } from '../../../failure.ts';
import { type Asking, ask } from '../../../terminal/ask.ts';
import { endLine, isInteractive, remark } from '../../../terminal/output.ts';
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
  const person = personAt(answering);
  return (asked) => {
    endLine();
    return asked.kind === 'permission'
      ? permissionFor(asked, answering, person)
      : answerTo(asked, texts.shift(), person);
  };
}

/** The messages and the answers of called agents that no option gives, as the person at the terminal says. */
export function outsideIn(answering: Answering, agents: CalledAgents): Outside {
  const person = personAt(answering);
  if (person === undefined) return { called: async ({ agent }) => usualAnswer(agent, agents) };
  return {
    message: (name) => askMessage(name, person),
    called: ({ agent, input }) => askCalled(agent, { input, person, agents }),
  };
}

/** An output cannot be made up. */
function usualAnswer(agent: string, agents: CalledAgents): CalledAnswer {
  if (agents.isTyped(agent)) throw unanswered(`the output of ${agent}`, `--call ${agent}=JSON`);
  return { outputText: 'done', output: null };
}

/** `researcher=text`, or `appraiser={"value": 50}` where its folder has an `output_schema`. */
export function callOf(text: string, agents: CalledAgents): [string, CalledAnswer] {
  const at = text.indexOf('=');
  if (at < 1) {
    throw new Failure(`--call ${text}: pass an agent and its answer, such as researcher="Oak"`);
  }
  const agent = text.slice(0, at);
  const read = agents.read(agent, text.slice(at + 1));
  if (!read.ok) throw new Failure(`--call ${text}: ${read.problem}`);
  return [agent, read.answer];
}

function personAt(answering: Answering): Asking | undefined {
  if (!isInteractive() || answering.json) return undefined;
  return { signal: answering.signal, interrupts: interruptsOf(answering) };
}

/** Undefined: no message comes. */
async function askMessage(name: string, person: Asking): Promise<Json | undefined> {
  endLine();
  let shown = `\n? message ${printable(name)}\n  its data as JSON, or nothing if it does not come\n`;
  for (;;) {
    const said = (await ask(`${shown}  > `, person))?.trim() ?? '';
    if (said === '') return undefined;
    try {
      return JSON.parse(said) as Json;
    } catch {
      shown = '';
      remark('  this is not JSON: a text stands in quotes');
    }
  }
}

async function askCalled(
  agent: string,
  {
    input,
    person,
    agents,
  }: { readonly input: Json; readonly person: Asking; readonly agents: CalledAgents },
): Promise<CalledAnswer> {
  endLine();
  const isTyped = agents.isTyped(agent);
  const wanted = isTyped ? 'its output as JSON' : 'what it answers, or nothing for "done"';
  const call = printable(`${agent} ${JSON.stringify(input)}`);
  let shown = `\n? call of ${call}\n  ${wanted}\n`;
  for (;;) {
    const said = await ask(`${shown}  > `, person);
    if (said === undefined && isTyped) throw unanswered(`the output of ${agent}`, undefined);
    const read = agents.read(agent, said || (isTyped ? '' : 'done'));
    if (read.ok) return read.answer;
    shown = '';
    remark(printable(`  ${read.problem}`));
  }
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
