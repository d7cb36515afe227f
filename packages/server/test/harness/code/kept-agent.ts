// An agent as code that tells its processes apart: each answer begins with the name of the process, and how many legs
// it had.
import { spawn } from 'node:child_process';
import { appendFileSync, writeSync } from 'node:fs';
import { agent } from '@convoke/agent';

const name = Math.random().toString(36).slice(2);
let legs = 0;

export default agent<{ runs?: number }>(async (ctx) => {
  legs += 1;
  // Before it has said anything.
  if (ctx.prompt === 'die in the second leg' && legs === 2) process.kill(process.pid, 'SIGKILL');
  ctx.state.runs = (ctx.state.runs ?? 0) + 1;
  ctx.say(`${name} leg ${legs} run ${ctx.state.runs}`);
  switch (ctx.prompt) {
    case 'fail':
      throw new Error('on purpose');
    case 'complain':
      console.error('something of this leg');
      process.chdir('/tmp');
      break;
    case 'leave a process':
      spawn('sleep', ['8082'], { stdio: 'ignore', detached: true });
      break;
    case 'write after the end':
      writeSync(3, '{"type":"end"}\n{"type":"custom","name":"late"}\n');
      break;
    case 'work on':
      setInterval(() => appendFileSync('ticks', '.'), 1);
      break;
    case 'work':
      await new Promise<void>((resolve) => {
        ctx.signal.addEventListener('abort', () => resolve());
        setInterval(() => {}, 1000);
      });
      ctx.signal.throwIfAborted();
      break;
    case 'folder':
      ctx.say(` in ${process.cwd()}`);
      break;
    case 'ask':
      ctx.say(` ${await ctx.ask('Why?')}`);
      break;
    case 'secret':
      ctx.say(` ${process.env['PASSPHRASE'] === process.env['EXPECTED']}`);
      break;
    default:
  }
});
