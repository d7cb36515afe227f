import { fileURLToPath } from 'node:url';

/** Where a checkout keeps the built console. */
export const builtFolder = fileURLToPath(new URL('../dist', import.meta.url));
