#!/usr/bin/env node
// Three short tours of Convoke with plain fetch: stream a run, answer a question, approve a tool call.
//
//   node examples/tour.mjs stream | question | approval [agent]
//
// It reads the credentials that `npm start` wrote, and prints every request, so that you can send the same ones from
// your own backend.
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';

const [, , name = 'stream', agent] = process.argv;
const prompt = 'Hello from the tour';

const tours = {
  stream: () => follow(agent ?? 'echo', {}),
  question: () => follow(agent ?? 'demo', { user_question: answer, permission_request: refuse }),
  approval: () => follow(agent ?? 'demo', { user_question: skip, permission_request: decide }),
};

const tour = tours[name];
if (tour === undefined) {
  console.error(`usage: node examples/tour.mjs ${Object.keys(tours).join(' | ')} [agent]`);
  process.exit(2);
}

const folder = process.env.CONVOKE_DATA_DIR ?? '.convoke';
const quickstart = JSON.parse(
  await readFile(`${folder}/quickstart.json`, 'utf8').catch(() => {
    console.error(
      `${folder}/quickstart.json does not exist: start the server first, with npm start.`,
    );
    process.exit(1);
  }),
);
const token = await getToken();
await tour();

/** Starts a run and prints its events; `handlers` answer questions and permission requests. */
async function follow(agentName, handlers) {
  const { body: session } = await call('POST', '/v1/sessions', { agent_name: agentName });
  const runs = `/v1/sessions/${session.id}/runs`;
  const { body: run } = await call('POST', runs, { input: { prompt } });
  for await (const event of events(`${runs}/${run.id}/events`)) {
    if (event.type === 'message_delta') process.stdout.write(event.data.text);
    else console.log(`\n  · ${event.type} ${JSON.stringify(event.data)}`);
    await handlers[event.type]?.(session.id, event.data.interaction_key);
  }
}

/** Reads the durable record of an interaction; answers refer to it, never to the event alone. */
async function pending(sessionId, key) {
  const { body } = await call('GET', `/v1/sessions/${sessionId}/interactions`);
  return body.interactions.find((interaction) => interaction.interaction_key === key);
}

async function answer(sessionId, key) {
  const { question, options = [] } = await pending(sessionId, key);
  const labels = options.map(({ label }) => label);
  const said = await ask(`${question} (${labels.join(', ')})`, labels[0] ?? 'Friend');
  await call('POST', `/v1/sessions/${sessionId}/interactions/${key}/answer`, { answer: said });
}

async function skip(sessionId, key) {
  await call('POST', `/v1/sessions/${sessionId}/interactions/${key}/answer`, { answer: 'Friend' });
}

async function decide(sessionId, key) {
  const { tool_name, tool_input } = await pending(sessionId, key);
  const said = await ask(`Allow ${tool_name} ${JSON.stringify(tool_input)}? (y/n)`, 'y');
  const decision = said.startsWith('y') ? 'allow' : 'deny';
  await call('POST', `/v1/sessions/${sessionId}/interactions/${key}/answer`, { decision });
}

async function refuse(sessionId, key) {
  await call('POST', `/v1/sessions/${sessionId}/interactions/${key}/answer`, { decision: 'deny' });
}

/** Prompts at the terminal; without a terminal, returns the default. */
async function ask(question, offered) {
  if (!process.stdin.isTTY) return offered;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const said = await terminal.question(`  ? ${question} [${offered}] `);
  terminal.close();
  return said.trim() || offered;
}

async function getToken() {
  const { client_id, client_secret } = quickstart;
  const response = await fetch(`${quickstart.base_url}/v1/oauth/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  }).catch(() => {
    console.error(
      `Nothing answers at ${quickstart.base_url}: start the server first, with npm start.`,
    );
    process.exit(1);
  });
  return (await response.json()).access_token;
}

function headers() {
  return {
    authorization: `Bearer ${token}`,
    'x-organization-id': quickstart.organization_id,
    'x-workspace-tenant-id': quickstart.tenant_id,
  };
}

async function call(method, path, body) {
  console.log(`\n→ ${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`);
  const json = { 'content-type': 'application/json' };
  const sent =
    body === undefined
      ? { headers: headers() }
      : { headers: { ...headers(), ...json }, body: JSON.stringify(body) };
  const response = await fetch(quickstart.base_url + path, { method, ...sent });
  const answered = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(answered)}`);
  return { status: response.status, body: answered };
}

async function* events(path) {
  console.log(`\n→ GET ${path}`);
  const accept = { accept: 'text/event-stream' };
  const response = await fetch(quickstart.base_url + path, {
    headers: { ...headers(), ...accept },
  });
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length));
    }
  }
}
