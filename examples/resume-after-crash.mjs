// A worker that can be killed at any moment. It stores its run and the id of the last processed event in a file; after a
// restart it continues exactly there and starts no run twice.
//
//   node examples/resume-after-crash.mjs <file>
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from './connect.mjs';

/** @typedef {{ session: string, run: string, after?: string, text: string }} Progress */

const file = process.argv[2] ?? 'progress.json';
const convoke = connect();

let progress = existsSync(file) ? read() : await begin();
const run = convoke.sessions.at(progress.session).runs.at(progress.run);
for await (const event of run.follow({ after: progress.after })) {
  const text = event.type === 'message_delta' ? progress.text + event.data.text : progress.text;
  // Store the id only after the event is processed: events after the stored id are delivered again.
  progress = { ...progress, after: event.id, text };
  keep(progress);
}
console.log(progress.text);

/** @returns {Promise<Progress>} */
async function begin() {
  const session = await convoke.sessions.create('slow');
  const started = await session.run('Take your time');
  const first = { session: session.id, run: started.id, text: '' };
  keep(first);
  console.log('started');
  return first;
}

/** @returns {Progress} */
function read() {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/**
 * Replaces the file atomically, so that a crash cannot leave half of it.
 * @param {Progress} next
 */
function keep(next) {
  writeFileSync(`${file}.new`, JSON.stringify(next));
  renameSync(`${file}.new`, file);
}
