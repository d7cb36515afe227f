// Makes dist/, the package as it is published: npm run build -w @convoke/sdk, then npm pack packages/sdk/dist
import { fileURLToPath } from 'node:url';
import { buildPackage } from './build-package.ts';

const folder = fileURLToPath(new URL('../dist', import.meta.url));
await buildPackage(folder);
console.log(`Built ${folder}. To pack it: npm pack ${folder}`);
