import type { Template } from '../template.ts';

/** A program that speaks the line protocol itself, to be translated into another language. */
export const stdio: Template = {
  files,
  test: (name) => `npx convoke agents rehearse ${name} "Hello" --approve allow --kill`,
};

function files(name: string): Readonly<Record<string, string>> {
  return {
    'agent.yaml': `schema: 1
name: ${name}
description: Asks for permission, and writes a note
framework: stdio
command: [node, ./agent.mjs]
recovery: { on_loss: resume }
session_files: true
`,
    'agent.mjs': `// The server sends a line of JSON, and every line that is printed is an event. No library is needed, so any language will do.
import { mkdirSync, writeFileSync } from 'node:fs';

const lines = linesOf(process.stdin.setEncoding('utf8'));
const emit = (type, members) => console.log(JSON.stringify({ type, ...members }));
/** A recovery point: after a loss the next process finds it as its state, and what was said after it is taken back. */
const point = (state) => emit('checkpoint', { state, recovery: true });

const { input, state } = JSON.parse((await lines.next()).value);
const { kind, prompt, answers = {}, calls = {} } = input;

if (kind === 'prompt') point({ said: false });
if (kind === 'prompt' || !state.said) {
  emit('message_delta', { text: \`You said: \${prompt}\\n\` });
  point({ said: true });
}

// It waits as a row of the database: the process ends here, and another one gets the answer.
const answer = answers.note;
if (answer === undefined) {
  emit('permission_request', { ref: 'note', tool_name: 'write_note', tool_input: { text: prompt } });
  emit('end', { outcome: 'waiting' });
  process.exit();
}

if (!answer.allow) {
  emit('message_delta', { text: 'Then I write nothing.\\n' });
} else {
  // A call that has ended, or of which a person says that it was carried out, is not carried out again.
  if (!['ended', 'left'].includes(calls.note?.state)) {
    emit('call_begin', { call_id: 'note', tool_name: 'write_note', tool_input: answer.input });
    // Only when it has begun is it written down that the call may have an effect. A rule may still refuse it.
    let said = { type: 'yield' };
    while (!said.type.startsWith('call_')) said = JSON.parse((await lines.next()).value);
    if (said.type === 'call_refused') {
      emit('message_delta', { text: \`Then I write nothing: \${said.reason ?? 'not allowed'}.\\n\` });
      process.exit();
    }
    mkdirSync('outputs', { recursive: true });
    writeFileSync('outputs/note.txt', \`\${answer.input.text}\\n\`);
    emit('call_end', { call_id: 'note', point: { said: true } });
  }
  emit('message_delta', { text: 'It is in note.txt.\\n' });
}
emit('end', { outcome: 'completed' });
process.exit();

async function* linesOf(input) {
  let begun = '';
  for await (const text of input) {
    const whole = (begun + text).split('\\n');
    begun = whole.pop();
    yield* whole;
  }
}
`,
  };
}
