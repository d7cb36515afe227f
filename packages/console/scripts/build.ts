// npm run build -w @convoke/console
import { buildConsole } from './build-console.ts';

await buildConsole();
