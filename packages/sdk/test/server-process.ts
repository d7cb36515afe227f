// A Convoke server as a process of its own, so that a test can end it the hard way. It goes with whoever started it.
import { readConfig, runServer } from '@convoke/server';

process.on('disconnect', () => process.exit(0));
const { convoke, stopped } = await runServer(readConfig(process.env), { quickstart: true });
process.send?.({ baseUrl: convoke.baseUrl });
await stopped;
