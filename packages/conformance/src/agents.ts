import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Looks like a line of a frame to a reader that takes U+2028 for the end of a line. */
const hostileNote = 'a\u2028event: x';

/** The agents that the kit needs, in prose for other implementations and as folders for Convoke (D-229). */
export const agents = {
  echo: {
    does: 'Answers with the prompt in its text, and completes. Its sessions take files, if the service has files.',
    folder: {
      session_files: true,
      script: [{ say: '{{prompt}}' }, { emit: { type: 'noted', data: { note: hostileNote } } }],
    },
  },
  ask: {
    does: 'Asks a person one question, says the answer, and completes.',
    folder: {
      script: [{ say: 'Hm. ' }, { ask: { question: 'Which?' } }, { say: 'So {{answer}}.' }],
    },
  },
  approve: {
    does: 'Wants to use one tool that needs approval, uses it if it is allowed, and completes in either case.',
    folder: {
      approval_required_tools: ['write_file'],
      script: [
        { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{prompt}}' } } },
        { say: 'Done.' },
      ],
    },
  },
  slow: {
    does: 'Says the numbers 1 to 60 as words, ten each second, and completes. It can be cancelled.',
    folder: {
      script: [{ say: '1 ' }, { say: { text: slowText().slice('1 '.length), every_ms: 100 } }],
    },
  },
  fail: {
    does: 'Says something, then ends with an error.',
    folder: { script: [{ say: 'Trying. ' }, { fail: { message: 'cannot' } }] },
  },
} as const;

export type AgentRole = keyof typeof agents;

export const agentRoles = Object.keys(agents) as readonly AgentRole[];

export function usualName(role: AgentRole): string {
  return `conformance-${role}`;
}

/** The text of the slow agent. */
export function slowText(): string {
  return Array.from({ length: 60 }, (_, index) => `${index + 1} `).join('');
}

/** Writes a folder for each agent, for a server of Convoke that reads `directory`. */
export async function writeAgents(directory: string): Promise<void> {
  for (const role of agentRoles) {
    const name = usualName(role);
    const { does, folder } = agents[role];
    const whole = { schema: 1, name, description: does, framework: 'scripted', ...folder };
    await mkdir(join(directory, name), { recursive: true });
    // Every JSON document is a YAML document.
    await writeFile(join(directory, name, 'agent.yaml'), `${JSON.stringify(whole, null, 2)}\n`);
  }
}
