import { Misuse } from './failures.ts';
import type { Leg } from './leg.ts';
import { digestOf } from './names.ts';
import { never } from './deliveries.ts';

/**
 * Handles stored results that the replay did not ask for (L15, D-173). If the agent was edited, a person decides
 * (D-174).
 */
export async function continueAfterEdit(
  leg: Leg,
  left: readonly string[],
  call: { readonly name: string; readonly isRepeatable: boolean },
): Promise<void> {
  const isDoubtful = leg.replay.hasEffectLeft && !call.isRepeatable;
  const question = `The agent was edited during this run. It has not asked for the results of ${named(left)} and is about to start "${call.name}". If that is the same step under a new name, it would run twice.`;
  const isEdited = leg.start.agent_changed === true;
  await decide(leg, { left, question, isDoubtful: isDoubtful && isEdited });
  leg.replay.forgetLeftOver();
  leg.send({ type: 'custom', name: 'replay_differs', data: { left_over: left } });
}

/**
 * Handles a new call while the run has called agents that the replay did not ask for (D-924): an input that differs in
 * every leg would start one run after the other.
 */
export async function callAfterEdit(
  leg: Leg,
  left: readonly string[],
  agent: string,
): Promise<void> {
  if (leg.start.agent_changed !== true) {
    throw new Misuse(
      `What a call is given must be the same in every leg: the run has called ${named(left)}, and now calls "${agent}" with another input. Take what differs, such as a time, from a step.`,
    );
  }
  const question = `The agent was edited during this run. It has not asked for ${named(left)} and is about to call "${agent}". If that is the same call with another input, it would run twice.`;
  await decide(leg, { left, question, isDoubtful: true });
  leg.replay.forgetLeftCalls();
}

interface Doubt {
  readonly left: readonly string[];
  readonly question: string;
  readonly isDoubtful: boolean;
}

/** Asks a person where it is doubtful, and ends the run if that person does not want it to continue. */
async function decide(leg: Leg, { left, question, isDoubtful }: Doubt): Promise<void> {
  const ref = `edited ${digestOf(left)}`;
  const answer = leg.replay.answers.get(ref);
  if (answer === undefined && isDoubtful) {
    leg.stepEnded();
    try {
      await leg.raise({
        type: 'user_question',
        ref,
        question,
        options: ['Continue', 'End the run'],
      });
    } finally {
      leg.stepStarted();
    }
  }
  if (answer !== undefined && !('values' in answer && answer.values[0] === 'Continue')) {
    leg.fail(new Misuse('A person ended the run because the agent was edited during it.'));
    await never();
  }
}

function named(refs: readonly string[]): string {
  return refs.map((ref) => `"${ref}"`).join(', ');
}
