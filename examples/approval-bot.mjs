// Decides on permission requests by a rule, for all runs of the tenant. It keeps no state: pending interactions are in
// the service, so any number of bots can run, and each can be killed and restarted.
//
//   node examples/approval-bot.mjs [--once]
import { connect } from './connect.mjs';

const convoke = connect();
const isOnce = process.argv.includes('--once');

do {
  for await (const session of convoke.sessions.list({ status: 'waiting' })) {
    for await (const interaction of session.interactions.pending()) {
      if (interaction.kind !== 'permission') continue;
      const decision = isHarmless(interaction) ? 'allow' : 'deny';
      await session.interactions.answer(interaction.interaction_key, { decision });
      console.log(`${decision} ${interaction.tool_name ?? ''} in ${session.id}`);
    }
  }
  if (!isOnce) await new Promise((resolve) => setTimeout(resolve, 1000));
} while (!isOnce);

/**
 * Allows writing notes and nothing else.
 * @param {import('@convoke/sdk').InteractionRecord} interaction
 */
function isHarmless({ tool_name, tool_input }) {
  if (tool_name !== 'write_file' || typeof tool_input !== 'object' || tool_input === null)
    return false;
  return 'path' in tool_input && tool_input['path'] === 'outputs/note.txt';
}
