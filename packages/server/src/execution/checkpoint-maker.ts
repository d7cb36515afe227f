import type { Agent } from '../domain/agent.ts';
import type { Harness } from '../ports/harness.ts';
import type { CheckpointMaker, SessionState } from '../ports/repositories/runs/sessions.ts';

export interface Frameworks {
  readonly harnesses: ReadonlyMap<
    string,
    Pick<Harness, 'checkpointFormat' | 'replays' | 'callsAgents'>
  >;
}

const oldestFormat = 1;

/** The mark of the checkpoints of an agent's legs (D-99). */
export function checkpointMaker(
  { harnesses }: Frameworks,
  agent: Agent | undefined,
): CheckpointMaker {
  const harness = harnesses.get(agent?.framework ?? '');
  return { format: harness?.checkpointFormat ?? oldestFormat, agent: agent?.digest ?? '' };
}

/** Whether the agent's framework starts every leg from the beginning of the run (D-176). */
export function replaysRuns({ harnesses }: Frameworks, agent: Agent | undefined): boolean {
  return harnesses.get(agent?.framework ?? '')?.replays === true;
}

/** Whether runs of the agent can wait for more than people, although its framework does not replay (D-925). */
export function waitsAsRow({ harnesses }: Frameworks, agent: Agent | undefined): boolean {
  const harness = harnesses.get(agent?.framework ?? '');
  return harness?.callsAgents === true && harness.replays !== true;
}

/** Whether a leg of this server can read the last checkpoint of the session. */
export function canRead(maker: CheckpointMaker, { made }: Pick<SessionState, 'made'>): boolean {
  return made === null || made.format <= maker.format;
}

/** Whether the agent is another one than when the checkpoint was made. */
export function isOtherAgent(
  maker: CheckpointMaker,
  { made }: Pick<SessionState, 'made'>,
): boolean {
  return made !== null && made.agent !== maker.agent;
}
