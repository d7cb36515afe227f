import type { TokenEndpoints } from '../ports/connections/token-endpoints.ts';
import { type ChosenUrls, problemOfUrl } from './chosen-urls.ts';

/** Token endpoints of services, behind the guard that webhooks have (D-609). */
export function createTokenEndpoints(parts: ChosenUrls): TokenEndpoints {
  return { problemOf: (endpoint) => problemOfUrl(endpoint, parts) };
}
