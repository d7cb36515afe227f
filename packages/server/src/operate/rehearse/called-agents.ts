import type { Agent } from '../../domain/agent.ts';
import type { Json } from '../../domain/json.ts';
import { completedWith } from '../../domain/run/completion.ts';
import type { CalledAnswer } from './rehearsed-waits.ts';

/** An answer, or why it is none. */
export type ReadAnswer =
  | { readonly ok: true; readonly answer: CalledAnswer }
  | { readonly ok: false; readonly problem: string };

/** The agents that a rehearsed one may call. Their answers are made up, and have to be such as they could give. */
export class CalledAgents {
  /** By name, those that have an `output_schema`. */
  readonly #typed: ReadonlyMap<string, Agent>;

  constructor(agents: readonly Agent[]) {
    const typed = agents.filter(({ output }) => output !== undefined);
    this.#typed = new Map(typed.map((agent) => [agent.name, agent]));
  }

  /** Whether the agent answers with an output instead of a text. */
  isTyped(name: string): boolean {
    return this.#typed.has(name);
  }

  /** An output as JSON where the agent gives one, else a text. */
  read(name: string, text: string): ReadAnswer {
    const agent = this.#typed.get(name);
    if (agent === undefined) return { ok: true, answer: { outputText: text, output: null } };
    const output = jsonIn(text);
    if (output === undefined) {
      return { ok: false, problem: `${name} has an output_schema, and this is not JSON.` };
    }
    const outcome = completedWith(agent, output);
    if (outcome.status === 'failed') return { ok: false, problem: outcome.message };
    return { ok: true, answer: { outputText: '', output: JSON.stringify(output) } };
  }
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
