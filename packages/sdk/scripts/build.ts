// Makes dist/, the package as it is published: npm run build -w @convoke/sdk, then npm pack packages/sdk/dist
import { fileURLToPath } from 'node:url';
import { buildPackage } from './build-package.ts';

await buildPackage(fileURLToPath(new URL('../dist', import.meta.url)));
