import { Misuse } from './failures.ts';
import type { Leg } from './leg.ts';
import { digestOf } from './names.ts';
import { never } from './deliveries.ts';

/** Handles stored results that the replay did not ask for (L15, D-173). If the agent was edited, a person decides (D-174). */
export async function continueAfterEdit(
  leg: Leg,
  left: readonly string[],
  call: { readonly name: string; readonly isRepeatable: boolean },
): Promise<void> {
  const { start } = leg;
  const ref = `edited ${digestOf(left)}`;
  const answer = leg.replay.answers.get(ref);
  const isDoubtful = leg.replay.hasEffectLeft && !call.isRepeatable;
  if (answer === undefined && isDoubtful && start.agent_changed === true) {
    const names = left.map((name) => `"${name}"`).join(', ');
    const question = `The agent was edited during this run. It has not asked for the results of ${names} and is about to start "${call.name}". If that is the same step under a new name, it would run twice.`;
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
  leg.replay.forgetLeftOver();
  leg.send({ type: 'custom', name: 'replay_differs', data: { left_over: left } });
}
