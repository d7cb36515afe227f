// A Convoke server as a separate process, so that a test can kill it. It ends with its parent process.
import { readConfig, runServer } from '@convoke/server';

process.on('disconnect', () => process.exit(0));
const { convoke, stopped } = await runServer(readConfig(process.env), { quickstart: true });
process.send?.({ baseUrl: convoke.baseUrl });
await stopped;
