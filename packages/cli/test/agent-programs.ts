import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Agents as code for tests of the command line, by their names: some are flawless, some are not. */
const agentPrograms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // Everything that has an effect is in a step.
  careful: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': `import { appendFileSync } from 'node:fs';
import { agent } from '@convoke/agent';

export default agent(async (ctx) => {
  const why = await ctx.ask('Why is it refunded?', { options: ['broken', 'late'] });
  const refund = await ctx.approve('refund', { order: 7 }, () => appendFileSync('ledger.txt', 'paid\\n'));
  return refund.allowed ? 'Refunded, since it was ' + why + '.\\n' : 'Not refunded.\\n';
});
`,
  },
  // The same with fewer lines, for rehearsals that kill it at each.
  once: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': `import { appendFileSync } from 'node:fs';
import { agent } from '@convoke/agent';

export default agent(async (ctx) => {
  const { allowed } = await ctx.approve('pay', {}, () => appendFileSync('ledger.txt', 'paid\\n'));
  return allowed ? 'Paid.' : 'Not paid.';
});
`,
  },
  // Its rules decide by the amount.
  ruled: {
    'agent.yaml': `framework: code
rules:
  - { name: small, tools: [pay], when: [{ path: /amount, lte: 50 }], effect: allow }
  - { name: huge, tools: [pay], when: [{ path: /amount, gt: 1000 }], effect: deny, reason: Too much. }
approval_required_tools: [pay]
`,
    'agent.ts': `import { appendFileSync } from 'node:fs';
import { Denied, agent } from '@convoke/agent';

export default agent(async (ctx) => {
  for (const amount of ctx.prompt.split(' ').map(Number)) {
    try {
      await ctx.step('pay', () => appendFileSync('ledger.txt', 'paid\\n'), { input: { amount } });
      ctx.say(amount + ' is paid. ');
    } catch (error) {
      if (!(error instanceof Denied)) throw error;
      ctx.say(amount + ': ' + error.message + ' ');
    }
  }
});
`,
  },
  // A person has to allow its calls, and one of them is of an agent that it may not call.
  calls: {
    'agent.yaml': 'framework: code\nagents: [researcher]\napproval_required_tools: [call_*]\n',
    'agent.ts': `import { agent } from '@convoke/agent';

export default agent(async (ctx) => {
  const calls = ['researcher', 'stranger'].map((name) => ctx.call(name, { prompt: ctx.prompt }));
  for (const called of await Promise.all(calls)) {
    ctx.say(called.ok ? called.text + ' ' : '(' + called.code + ': ' + called.message + ') ');
  }
});
`,
  },
  // Calls an agent that answers with an output.
  purchase: {
    'agent.yaml': 'framework: code\nagents: [appraiser]\n',
    'agent.ts': `import { agent } from '@convoke/agent';

export default agent(async (ctx) => {
  const appraised = await ctx.call('appraiser', { prompt: ctx.prompt });
  if (!appraised.ok) return 'Nothing.\\n';
  const { value } = appraised.output;
  return 'It is worth ' + value + '.\\n';
});
`,
  },
  appraiser: {
    'agent.yaml': `framework: code
output_schema: { type: object, properties: { value: { type: integer } }, required: [value] }
`,
    'agent.ts': `import { agent } from '@convoke/agent';
export default agent(async () => ({ value: 1 }));
`,
  },
  // Waits for a message and a called run at the same time.
  waits: {
    'agent.yaml': 'framework: code\nagents: [researcher]\n',
    'agent.ts': `import { agent } from '@convoke/agent';

export default agent(async (ctx) => {
  const paid = ctx.receive('paid', { timeout: '2w' });
  const called = ctx.call('researcher', { prompt: 'oak' });
  const [message, run] = await Promise.all([paid, called]);
  if (ctx.prompt !== 'short') await ctx.sleep('a pause', '3d');
  return JSON.stringify(message) + ' ' + run.text + '\\n';
});
`,
  },
  // A script, which has no process that could be killed.
  script: {
    'agent.yaml': `framework: scripted
agents: [researcher]
script:
  - sleep: { name: a pause, for: 3d }
  - receive: { name: go, timeout: 2w }
  - tool:
      name: write_file
      input: { path: outputs/note.txt, text: "{{answer}}" }
  - call: { agent: researcher, prompt: oak }
  - say: "It said: {{answer}}"
`,
  },
  stuck: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': `import { agent } from '@convoke/agent';

export default agent(async () => {
  for (;;) {}
});
`,
  },
  chatty: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': `import { agent } from '@convoke/agent';

export default agent(async (ctx) => {
  console.log('\\u001b[31mhere');
  await ctx.step('count', () => 2);
  return 'Done.\\n';
});
`,
  },
  // Writes a line into the ledger, and then takes as long as a test.
  pays: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': `import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { InDoubt, agent } from '@convoke/agent';

export default agent(async (ctx) => {
  ctx.say('I pay it. ');
  const payment = async () => {
    appendFileSync('ledger.txt', 'paid\\n');
    await setTimeout(3_600_000);
  };
  try {
    await ctx.step('pay', payment, { input: { invoice: 7 } });
  } catch (error) {
    if (!(error instanceof InDoubt)) throw error;
  }
  return 'Paid.';
});
`,
  },
  // Appends to a file where no step is, so a replay does it again.
  clumsy: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': `import { appendFileSync } from 'node:fs';
import { agent } from '@convoke/agent';

export default agent(async (ctx) => {
  appendFileSync('ledger.txt', 'paid\\n');
  await ctx.step('thank', () => 1);
});
`,
  },
  // Asks in another place from its third leg on, so a person who has answered is asked again.
  forgetful: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': `import { appendFileSync, readFileSync } from 'node:fs';
import { agent } from '@convoke/agent';

export default agent(async (ctx) => {
  appendFileSync('legs.txt', '.');
  const place = readFileSync('legs.txt').length > 2 ? 'later' : 'first';
  await ctx.scope(place, () => ctx.ask('Why?'));
});
`,
  },
  // Keeps the ledger by hand: a call that is known is not carried out again.
  shell: {
    'agent.yaml': 'framework: stdio\ncommand: [./agent.sh]\nrecovery: { on_loss: resume }\n',
    'agent.sh': shellProgram('pay'),
  },
  // The same, but each process gives its payment another name.
  'shell-twice': {
    'agent.yaml': 'framework: stdio\ncommand: [./agent.sh]\nrecovery: { on_loss: resume }\n',
    'agent.sh': shellProgram('pay-$(cat /proc/sys/kernel/random/uuid)'),
  },
  // Each process calls under another name, so a process that is lost leaves a run that nothing waits for.
  'calls-twice': {
    'agent.yaml':
      'framework: stdio\ncommand: [./agent.sh]\nagents: [researcher]\nrecovery: { on_loss: resume }\n',
    'agent.sh': `#!/bin/sh
read -r start
case $start in
  *'"ok":true'*) echo "It is done."; exit ;;
esac
echo '{"type":"checkpoint","state":{},"recovery":true}'
call='"kind":"run","name":"researcher","input":{"prompt":"oak"}'
echo "{\\"type\\":\\"wait\\",\\"ref\\":\\"$(cat /proc/sys/kernel/random/uuid)\\",$call}"
echo '{"type":"end","outcome":"waiting"}'
`,
  },
  broken: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': '\n\nenum Colour { Red }\n',
  },
  // Its model needs a key.
  keyed: {
    'agent.yaml': 'framework: code\nenv: { MODEL_KEY: "${env:MODEL_KEY}" }\n',
    'agent.ts': `import { agent } from '@convoke/agent';\nexport default agent(async () => 'Hello.\\n');\n`,
  },
  // Written for a kit that is newer than the server's.
  ahead: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': '',
    'package.json': '{ "type": "module", "dependencies": { "@convoke/agent": "^7.1" } }\n',
  },
  misspelt: { 'agent.yaml': 'schema: 1\nframework: code\nentri: x.ts\n', 'agent.ts': '' },
  // Loaded, although Node is newer than it asks for.
  dated: {
    'agent.yaml': 'framework: code\n',
    'agent.ts': `import { agent } from '@convoke/agent';\nexport default agent(async () => 'Hello.\\n');\n`,
    'package.json': '{ "type": "module", "engines": { "node": "^18" } }\n',
  },
};

/** `ref` names the call: the program looks for exactly this one among those it is told of. */
function shellProgram(ref: string): string {
  return `#!/bin/sh
read -r start
ref="${ref}"
case $start in
  *"\\"$ref\\":{\\"state\\":\\"ended\\""* | *"\\"$ref\\":{\\"state\\":\\"left\\""*) ;;
  *)
    echo '{"type":"checkpoint","state":{},"recovery":true}'
    echo "{\\"type\\":\\"call_begin\\",\\"call_id\\":\\"$ref\\",\\"tool_name\\":\\"pay\\"}"
    read -r begun
    echo "{\\"type\\":\\"call_end\\",\\"call_id\\":\\"$ref\\"}"
    ;;
esac
echo "It is paid."
`;
}

/** Writes agents into `agents/` of a folder. */
export async function writeAgents(folder: string, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    for (const [path, text] of Object.entries(agentPrograms[name] ?? {})) {
      const file = join(folder, 'agents', name, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
    }
  }
}

/** How often an agent has paid: the lines of its ledger, in the folder of its session. */
export function paymentsIn(place: string): number {
  const ledgers = globSync(join(place, '.convoke/workspaces/*/*/ledger.txt'));
  return ledgers.flatMap((path) => readFileSync(path, 'utf8').trim().split('\n')).length;
}
