import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/free-port.ts';
import { type Peer, type Talk, startProgram, untilReady } from './peer.ts';
import { Requests } from './requests.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Restate's server in its default settings, and a service on its SDK. A run is an invocation. */
export async function startRestate(data: string): Promise<Peer> {
  const [ingress, admin, node, service] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const program = ['servers/restate.mjs', String(service)] as const;
  const agent = startProgram([process.execPath, ...program], { cwd: folder });
  const server = startProgram([binary(), '--no-logo', '--listen-mode', 'tcp'], {
    cwd: folder,
    env: {
      RESTATE_BASE_DIR: data,
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_LOG_FILTER: 'error',
    },
  });
  await untilReady(`http://127.0.0.1:${admin}/health`, server);
  await untilReady(`http://127.0.0.1:${ingress}/restate/health`, server);
  await new Requests(admin).json('/deployments', { uri: `http://127.0.0.1:${service}` });
  const requests = new Requests(ingress);
  const speak = async (talk: Talk) => {
    const topic = randomUUID();
    await requests.json('/agent/talk/send', { topic, ...talk });
    return topic;
  };
  const read = async (topic: string, { deltas }: Talk) => {
    for (let offset = 0; offset < deltas + 1; ) {
      const page = await requests.json(`/words/${topic}/pull`, { offset });
      offset = (page as { readonly nextOffset: number }).nextOffset;
    }
  };
  return {
    name: 'Restate',
    processes: [server, agent],
    async start() {
      await requests.json('/agent/start/send', null);
    },
    async talk(_caller, talk) {
      await read(await speak(talk), talk);
    },
    async fanOut(readers, talk) {
      const topic = await speak(talk);
      await Promise.all(Array.from({ length: readers }, () => read(topic, talk)));
      return performance.now();
    },
  };
}

/** The package of the server has the program of this machine as an optional dependency. */
function binary(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const { resolve } = createRequire(new URL('package.json', import.meta.url));
  return resolve(`${name}/bin/restate-server`);
}
