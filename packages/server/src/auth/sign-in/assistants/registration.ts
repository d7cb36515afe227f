import type { Exchange } from '../exchange.ts';
import { readText } from '../exchange.ts';
import type { AssistantClients } from './assistant-clients.ts';

/** Registers assistants that have no document about themselves (RFC 7591), where the operator allows it (D-621). */
export async function registerAssistant(
  clients: AssistantClients,
  { request, response }: Pick<Exchange, 'request' | 'response'>,
): Promise<void> {
  const text = await readText(request, 'application/json');
  const registered = text === undefined ? undefined : await clients.register(text);
  const [status, body] =
    registered === undefined
      ? ([400, refused] as const)
      : registered === 'full'
        ? ([503, full] as const)
        : ([201, registered] as const);
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}

const refused = {
  error: 'invalid_client_metadata',
  error_description:
    'Send JSON with redirect_uris, each https or http to this computer, and token_endpoint_auth_method none.',
};

const full = {
  error: 'temporarily_unavailable',
  error_description:
    'There are too many registered clients. Unused ones are removed after 30 days.',
};
