// `@convoke/sdk/node` inside a checkout.
import { builtModule, runsTypeScript } from './built-module.mjs';

const sdk = await (runsTypeScript
  ? import('../src/node.ts')
  : /** @type {Promise<typeof import('../src/node.ts')>} */ (import(builtModule('node.js'))));

export const { openFile } = sdk;
