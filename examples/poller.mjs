// Without streams and webhooks: starts a run, polls it and uses its outcome. For batch jobs and cron.
//
//   node examples/poller.mjs "first prompt" "second prompt"
import { connect } from './connect.mjs';

const prompts = process.argv.slice(2);
const convoke = connect();
const session = await convoke.sessions.create('echo');

for (const prompt of prompts) {
  const run = await session.run(prompt);
  let record = await run.read();
  while (record.ended_at === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    record = await run.read();
  }
  console.log(`${record.status}: ${record.output_text ?? record.error_message ?? ''}`);
}
