// Preloaded by tests of an agent, in its folder: node --import @convoke/agent/resolve --test. As in the server, adapters import
// the framework that the folder has.
import { join } from 'node:path';
import { resolveKit } from './resolve-kit.ts';

resolveKit(join(process.cwd(), 'agent.ts'));
