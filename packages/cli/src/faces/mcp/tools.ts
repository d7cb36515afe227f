import type { AgentRecord, Convoke } from '@convoke/sdk';
import type { Tool } from '@modelcontextprotocol/server';
import { toolInputSchema, toolOutputSchema } from '@convoke/faces';
import { collect } from '../../collect.ts';
import { printable, remark } from '../../terminal/output.ts';

/** D-217: an assistant reads the description of every tool, for each message. */
const agentsMax = 50;

export const waitTool = 'convoke_wait';
export const answerTool = 'convoke_answer';

const runId = { type: 'string', description: 'The run_id of an earlier result.' } as const;
/** Of a tool for every agent: what the output of the run is like is said by the tool of its agent. */
const outputSchema = toolOutputSchema({ output_schema: {} }) as Tool['outputSchema'];

/** The tools for every agent: none of them takes a decision on a permission (D-220). */
const ownTools: readonly Tool[] = [
  {
    name: waitTool,
    description: 'Waits for a run of an agent that has not ended, and returns its outcome.',
    inputSchema: { type: 'object', properties: { run_id: runId }, required: ['run_id'] },
    outputSchema,
    annotations: { readOnlyHint: true },
  },
  {
    name: answerTool,
    description:
      "Passes the user's answer to a question that an agent has asked. Ask the user first. It gives no permission.",
    inputSchema: {
      type: 'object',
      properties: { run_id: runId, answer: { type: 'string', description: 'What they answered.' } },
      required: ['run_id', 'answer'],
    },
    outputSchema,
  },
];

/** The agents that are tools: those that the command names, else all that the login may use. */
export class OfferedAgents {
  readonly #convoke: Convoke;
  readonly #names: readonly string[];
  #remarked = '';

  constructor(convoke: Convoke, names: readonly string[]) {
    this.#convoke = convoke;
    this.#names = names;
  }

  async tools(signal?: AbortSignal): Promise<Tool[]> {
    const agents = (await collect(this.#convoke.agents.list({ signal })))
      .filter(({ name }) => this.has(name))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#remarkOn(agents);
    return [...agents.slice(0, agentsMax).map(toolOf), ...ownTools];
  }

  /** Whether the agent is for the assistant at all. */
  has(name: string): boolean {
    return this.#names.length === 0 || this.#names.includes(name);
  }

  /** Says on standard error, which clients keep in a log, what is not offered. */
  #remarkOn(agents: readonly AgentRecord[]): void {
    const missing = this.#names.filter((name) => !agents.some((agent) => agent.name === name));
    const problem =
      missing.length > 0
        ? `there is no agent ${missing.join(', ')}`
        : `there are ${agents.length} agents, and ${agentsMax} are offered: name those that you need`;
    const isNew = problem !== this.#remarked;
    if ((missing.length > 0 || agents.length > agentsMax) && isNew) remark(`convoke: ${problem}`);
    this.#remarked = problem;
  }
}

function toolOf(agent: AgentRecord): Tool {
  return {
    name: agent.name,
    description: printable(agent.description),
    inputSchema: toolInputSchema(agent) as Tool['inputSchema'],
    outputSchema: toolOutputSchema(agent),
    annotations: { openWorldHint: true },
  };
}
