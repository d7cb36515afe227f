import type { JsonObject } from '@convoke/contract';

/** `agent.yaml` as an object; `framework: scripted` when it does not say. */
export type AgentYaml = JsonObject;

/** Says the prompt back. Takes files, and is published. */
const echo: AgentYaml = {
  description: 'Says the prompt back',
  session_files: true,
  publish: ['a2a'],
  script: [{ say: '{{prompt}} (run {{run_number}})' }],
};

/** Says one word and then sleeps for an hour: it executes until a test ends it. */
const sleeper: AgentYaml = {
  description: 'Sleeps',
  script: [{ say: 'Zzz' }, { sleep_ms: 3_600_000 }, { say: 'awake' }],
};

/** Asks one question and repeats the answer. */
const asker: AgentYaml = {
  description: 'Asks a question',
  script: [
    { say: 'Hm. ' },
    {
      ask: {
        question: 'Which colour, {{prompt}}?',
        options: ['red', { label: 'blue', description: 'like the sea' }],
      },
    },
    { say: 'You said {{answer}}.' },
  ],
};

/** Writes a note once it is allowed to, then reads it back. */
const writer: AgentYaml = {
  description: 'Writes a note',
  approval_required_tools: ['write_*'],
  script: [
    { say: 'May I? ' },
    { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{prompt}}' } } },
    { tool: { name: 'read_file', input: { path: 'note.txt' } } },
    { say: 'Done.' },
  ],
};

const failing: AgentYaml = {
  description: 'Fails',
  script: [{ say: 'Trying. ' }, { fail: { message: 'cannot {{prompt}}', code: 'model_error' } }],
};

/** Takes one run at a time and no queue. */
const busy: AgentYaml = { ...sleeper, description: 'Refuses a queue', on_busy: 'reject' };

/** What most suites need. */
export const usualAgents = { echo, sleeper, asker, writer, failing, busy };
