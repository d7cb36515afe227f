// npm run build -w @convoke/console, and the first start of a checkout, which names another folder.
import { buildConsole } from './build-console.ts';

await buildConsole(process.argv[2]);
