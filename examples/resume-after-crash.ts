// A worker that can be killed at any moment. It keeps what it is doing and the id of the last event it has dealt with
// in a file; started again, it goes on exactly where it was and starts nothing twice.
//
//   node examples/resume-after-crash.ts <file>
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from './connect.ts';

interface Progress {
  readonly session: string;
  readonly run: string;
  readonly after?: string;
  readonly text: string;
}

const file = process.argv[2] ?? 'progress.json';
const convoke = connect();

let progress = existsSync(file) ? read() : await begin();
const run = convoke.sessions.at(progress.session).runs.at(progress.run);
for await (const event of run.follow({ after: progress.after })) {
  const text = event.type === 'message_delta' ? progress.text + event.data.text : progress.text;
  // Kept only once the event is dealt with: what was not kept is delivered again, and nothing else.
  progress = { ...progress, after: event.id, text };
  keep(progress);
}
console.log(progress.text);

async function begin(): Promise<Progress> {
  const session = await convoke.sessions.create('slow');
  const started = await session.run('Take your time');
  const first = { session: session.id, run: started.id, text: '' };
  keep(first);
  console.log('started');
  return first;
}

function read(): Progress {
  return JSON.parse(readFileSync(file, 'utf8')) as Progress;
}

/** Complete or absent, whenever the process dies. */
function keep(next: Progress): void {
  writeFileSync(`${file}.new`, JSON.stringify(next));
  renameSync(`${file}.new`, file);
}
