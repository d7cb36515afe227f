// Loaded before the server: names each module of OpenTelemetry that the server loads, on standard error.
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';

registerHooks({
  load(url, context, next) {
    if (url.includes('@opentelemetry')) writeSync(2, `loaded ${url}\n`);
    return next(url, context);
  },
});
