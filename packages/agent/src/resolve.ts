// Preloaded into tests of an agent, in its folder, by `convoke agents test`. As in the server, adapters import the
// framework that the folder has.
import { join } from 'node:path';
import { resolveKit } from './resolve-kit.ts';

resolveKit(join(process.cwd(), 'agent.ts'));
