import type { FastifyInstance } from 'fastify';
import { Refusal } from '../app/refusal.ts';
import { type DeclaredPaths, routedMethods } from './declared-paths.ts';
import { HttpRefusal } from './http-refusal.ts';
import { metricsPath } from './metrics.ts';

/** Says why a request reached no operation: nothing is at its path, or only other methods are (D-70). */
export function unroutedRefusal(
  url: string,
  { app, declared }: { readonly app: FastifyInstance; readonly declared: DeclaredPaths },
): Refusal {
  const [path = '/'] = url.split('?');
  // The path must look unknown to callers that may not read the metrics.
  if (path === metricsPath) return new Refusal('not_found');
  const operations = declared.methodsAt(path);
  const allow = (operations.length > 0 ? operations : methodsOfPage(app, path)).join(', ');
  if (allow === '') return new Refusal('not_found');
  return new HttpRefusal('method_not_allowed', { headers: { allow } });
}

/** Of a page that is not an operation. A route with an id is one of an operation, whose text is not an id. */
function methodsOfPage(app: FastifyInstance, url: string): readonly string[] {
  return routedMethods.filter((method) => {
    const found = app.findRoute({ method, url });
    return found !== null && Object.keys(found.params).every((name) => name === '*');
  });
}
