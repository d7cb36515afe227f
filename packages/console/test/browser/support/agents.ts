import type { AgentYaml } from '../../../../server/test/support/agents.ts';

/** Asks for a name, then for a permission: the walk of a newcomer. */
const greeter: AgentYaml = {
  description: 'Greets you and asks before it writes a note',
  approval_required_tools: ['write_file'],
  session_files: true,
  script: [
    { say: 'Hello! ' },
    { ask: { question: 'What should I call you?', options: ['Captain', 'Friend'] } },
    { say: 'Nice to meet you, {{answer}}. May I write that down? ' },
    { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{answer}} was here.' } } },
    { say: 'It is in note.txt.' },
  ],
};

/** Wants to write one note. */
const writer: AgentYaml = {
  description: 'Writes a note once it is allowed to',
  approval_required_tools: ['write_*'],
  script: [
    { say: 'I will note it down. ' },
    { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{prompt}}' } } },
    { say: 'Done.' },
  ],
};

const asker: AgentYaml = {
  description: 'Asks a question',
  script: [
    { ask: { question: 'Which colour, {{prompt}}?', options: ['red', 'blue'] } },
    { say: 'You said {{answer}}.' },
  ],
};

/** Says the prompt back: what a test writes there is what the page must show. */
const echo: AgentYaml = {
  description: 'Says the prompt back',
  session_files: true,
  script: [{ say: '{{prompt}}' }],
};

const failing: AgentYaml = {
  description: 'Fails',
  script: [{ say: 'Trying. ' }, { fail: { message: 'cannot {{prompt}}', code: 'model_error' } }],
};

/** Executes until a test ends it. */
const sleeper: AgentYaml = {
  description: 'Sleeps',
  script: [{ say: 'Zzz' }, { sleep_ms: 3_600_000 }],
};

/** Needs an account, which nothing connects: its runs would ask for it. */
const connected: AgentYaml = {
  description: 'Uses an account',
  connections: {
    github: {
      owner: 'end_user',
      oauth: {
        client_id: 'a-client',
        authorization_endpoint: 'https://service.test/authorize',
        token_endpoint: 'https://service.test/token',
      },
    },
  },
  script: [{ say: 'It works.' }],
};

export const consoleAgents = { greeter, writer, asker, echo, failing, sleeper };

/** With the agent that `connectPlace` needs. */
export const screenAgents = { ...consoleAgents, connected };
