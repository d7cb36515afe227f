// Loaded before a server: writes how many modules it has loaded from files, once it ends.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const loaded = new Set();
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) loaded.add(url);
    return next(url, context);
  },
});
const path = process.env['BENCH_MODULES'];
process.on('exit', () => {
  if (path !== undefined) writeFileSync(path, String(loaded.size));
});
