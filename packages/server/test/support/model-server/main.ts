import { parseArgs } from 'node:util';
import { startModelServer } from './server.ts';

// node packages/server/test/support/model-server/main.ts --port 4010
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const server = await startModelServer({ port: Number(values.port) });
console.log(
  `The scripted model listens on ${server.url}; what it was asked is at ${server.url}/log.`,
);
