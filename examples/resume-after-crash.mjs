// A worker that can be killed at any moment, and so can the server. It stores its run and the id of the last processed
// event in a file; after a restart it continues exactly there and starts no run twice.
//
//   node examples/resume-after-crash.mjs <file> [agent]
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from './connect.mjs';

/** @typedef {{ id: string, text: string }} Piece */
/** @typedef {{ session: string, run: string, after?: string, pieces: Piece[] }} Progress */

const [file = 'progress.json', agentName = 'slow'] = process.argv.slice(2);
const convoke = connect();

let progress = existsSync(file) ? read() : await begin();
const run = convoke.sessions.at(progress.session).runs.at(progress.run);
for await (const event of run.follow({ after: progress.after })) {
  // Store the id only after the event is processed: events after the stored id are delivered again.
  progress = { ...progress, after: event.id, pieces: joined(progress.pieces, event) };
  keep(progress);
}
console.log(progress.pieces.map(({ text }) => text).join(''));

/**
 * The pieces of the answer after one more event. An agent that lost its server may have to say something again: what it
 * had said of it is dropped.
 * @param {Piece[]} pieces
 * @param {import('@convoke/sdk').RunEvent} event
 */
function joined(pieces, event) {
  if (event.type === 'message_delta') return [...pieces, { id: event.id, text: event.data.text }];
  const from = event.type === 'run_interrupted' ? event.data.discard_from_event_id : undefined;
  return from === undefined ? pieces : pieces.filter(({ id }) => id < from);
}

/** @returns {Promise<Progress>} */
async function begin() {
  const session = await convoke.sessions.create(agentName);
  const started = await session.run('Take your time');
  /** @type {Progress} */
  const first = { session: session.id, run: started.id, pieces: [] };
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
