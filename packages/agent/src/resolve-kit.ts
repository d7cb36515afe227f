import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * Resolves every import of the kit to the copy that this file belongs to, also where the agent's folder has one: two
 * would not know each other. What the kit's adapters import is resolved as the agent's own file would: one copy of each
 * framework.
 */
export function resolveKit(entry: string): void {
  const { url: own } = import.meta;
  const kit = new URL('./', own).href;
  const agent = pathToFileURL(entry).href;
  registerHooks({
    resolve(specifier, context, next) {
      const [, name] = /^@convoke\/agent(?:\/(\w[\w-]*))?$/.exec(specifier) ?? [];
      if (specifier.startsWith('@convoke/agent')) {
        const isOwn = name === undefined || /^(resolve|test)$/.test(name);
        const inAdapters = name === 'bundle' ? name : `${name}/adapter`;
        const file = isOwn ? (name ?? 'index') : `adapters/${inAdapters}`;
        const extension = own.slice(own.lastIndexOf('.'));
        return { url: new URL(`./${file}${extension}`, own).href, shortCircuit: true };
      }
      const isOfAdapter = context.parentURL?.startsWith(kit) === true && /^[@a-z]/.test(specifier);
      return next(specifier, isOfAdapter ? { ...context, parentURL: agent } : context);
    },
  });
}
