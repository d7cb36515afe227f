// `@convoke/sdk/ai-sdk` inside a checkout.
import { builtModule, runsTypeScript } from './built-module.mjs';

const sdk = await (runsTypeScript
  ? import('../src/ai-sdk.ts')
  : /** @type {Promise<typeof import('../src/ai-sdk.ts')>} */ (import(builtModule('ai-sdk.js'))));

export const { ConvokeChatTransport } = sdk;
