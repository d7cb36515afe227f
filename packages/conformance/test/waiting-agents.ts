import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentRole, agentRoles, usualName, writeAgents } from '../src/agents.ts';

/** What an agent can wait for without a person, as the first step of its script. */
export const firstSteps = {
  sleep: { sleep: { name: 'first', for: '1s' } },
  receive: { receive: { name: 'first', timeout: '1s' } },
  call: { call: { agent: 'called', prompt: 'Hello' } },
} as const;

export type FirstStep = keyof typeof firstSteps;

/** Says so only after a while: whoever calls it is parked. */
const called = [firstSteps.sleep, { say: 'Called.' }];

/** The agents of the kit, each of which first waits; a client that knows nothing of it notices nothing. */
export async function writeWaitingAgents(
  directory: string,
  firstOf: (role: AgentRole) => FirstStep,
): Promise<void> {
  await writeAgents(directory);
  for (const role of agentRoles) {
    const file = join(directory, usualName(role), 'agent.yaml');
    const whole = JSON.parse(await readFile(file, 'utf8')) as { readonly script: object[] };
    const script = [firstSteps[firstOf(role)], ...whole.script];
    await writeFile(file, JSON.stringify({ ...whole, agents: ['called'], script }));
  }
  await mkdir(join(directory, 'called'));
  const agent = { schema: 1, name: 'called', framework: 'scripted', script: called };
  await writeFile(join(directory, 'called/agent.yaml'), JSON.stringify(agent));
}
