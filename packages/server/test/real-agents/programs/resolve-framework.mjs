// Preloaded: programs of this folder import a framework from FRAMEWORK_FOLDER, where it was installed, and the kit from
// here.
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolveKit } from '../../../../agent/src/resolve-kit.ts';

const agent = join(process.env.FRAMEWORK_FOLDER ?? '', 'agent.ts');
const programs = new URL('./', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const isOfProgram = context.parentURL?.startsWith(programs) && /^[@a-z]/.test(specifier);
    return next(
      specifier,
      isOfProgram ? { ...context, parentURL: pathToFileURL(agent).href } : context,
    );
  },
});
resolveKit(agent);
