import { refuse } from '../../../app/refusal.ts';
import { offeredRun, offeredTools } from '../../../app/faces/mcp/tools.ts';
import type { Services } from '../../../app/services.ts';
import type { Call, Handlers, Reply } from '../../handler.ts';
import { HttpRefusal } from '../../http-refusal.ts';
import { AgentCalls, type CallOptions, type McpParts, asItIs } from './agent-calls.ts';
import { newClientId } from './capabilities.ts';
import { McpFault, failMessage, faultReply } from './failure.ts';
import type { McpCaller } from './leaving.ts';
import { type McpRequest, idOf, newestVersion, olderVersions, readMessage } from './messages.ts';
import { placeIn } from './stream-place.ts';

interface RouteParts extends McpParts {
  readonly version: string;
  /** Of pages that may call: those of this server, and those that the operator names. */
  readonly origins: ReadonlySet<string>;
}

/** Agents as tools, for clients of the Model Context Protocol (D-610 to D-618). */
export function mcpRoutes(
  services: Services,
  parts: RouteParts,
): Handlers<'call_mcp' | 'resume_mcp'> {
  const calls = new AgentCalls(services, parts);
  const about = { name: 'convoke', title: 'Convoke', version: parts.version };
  const inNewEra = (result: object) => ({
    resultType: 'complete',
    ...result,
    _meta: { [serverInfoKey]: about },
  });
  return {
    async call_mcp(call) {
      requireOrigin(parts, call.headers.origin);
      let isOld = true;
      try {
        const message = readMessage(call.body, call.headers);
        ({ isOld } = message);
        const caller = callerOf(call, call.headers['mcp-session-id']);
        switch (message.kind) {
          case 'request':
            return await answer(services, {
              calls,
              caller,
              request: message,
              about,
              wrap: isOld ? asItIs : inNewEra,
              call,
            });
          case 'notification':
            caller.chargeRate();
            if (message.method === 'notifications/cancelled') calls.leave(caller, message.params);
            return { status: 202, body: undefined };
          case 'response':
            caller.chargeRate();
            await calls.takeResponse(caller, message);
            return { status: 202, body: undefined };
          default:
            return message satisfies never;
        }
      } catch (error) {
        if (!(error instanceof McpFault)) throw error;
        return faultReply(idOf(call.body), error, isOld);
      }
    },

    async resume_mcp(call) {
      requireOrigin(parts, call.headers.origin);
      const { 'last-event-id': eventId = '' } = call.headers;
      if (eventId === '') {
        const message = 'The server has no messages of its own: a stream continues a call.';
        throw new HttpRefusal('method_not_allowed', { message, headers: { allow: 'POST' } });
      }
      const place = placeIn(eventId);
      const caller = callerOf(call, call.headers['mcp-session-id']);
      const run = place && (await offeredRun(services, caller.offer, place.runId));
      if (place === undefined || run === undefined) {
        return refuse('not_found', { message: 'There is no call that this event id continues.' });
      }
      return calls.resume(caller, { place, run });
    },
  };
}

function requireOrigin({ origins }: RouteParts, origin: string | undefined): void {
  if (origin === undefined || origins.has(origin)) return;
  refuse('forbidden', { message: 'Pages of this origin may not call.' });
}

function callerOf(
  { caller, request, chargeRate, query }: Call<'call_mcp'> | Call<'resume_mcp'>,
  clientId: string | undefined,
): McpCaller {
  const { agents: names, wait } = query;
  const offer = { scope: caller.scope, names };
  return { caller, request, chargeRate, offer, clientId, waitMs: wait * 1000 };
}

interface ReceivedRequest {
  readonly calls: AgentCalls;
  readonly caller: McpCaller;
  readonly request: McpRequest;
  /** The server. */
  readonly about: object;
  readonly wrap: CallOptions['wrap'];
  readonly call: Call<'call_mcp'>;
}

async function answer(services: Services, asked: ReceivedRequest): Promise<Reply<'call_mcp'>> {
  const { calls, caller, request, about, wrap, call } = asked;
  const { id, method, params, isOld } = request;
  const capabilities = { tools: {} };
  const result = (value: object, headers?: Readonly<Record<string, string>>) => {
    const body = { jsonrpc: '2.0', id, result: wrap(value) } as const;
    return { status: 200, body, ...(headers && { headers }) } as const;
  };
  if (method !== 'tools/call') caller.chargeRate();
  switch (method) {
    case 'tools/list': {
      const tools = offeredTools(services, caller.offer, caller.caller.scopes);
      return result(isOld ? { tools } : { tools, ...cacheable });
    }
    case 'tools/call':
      return calls.call(caller, request, {
        key: call.headers['idempotency-key'],
        // Every client of the protocol takes a stream; other programs may not.
        takesStream: call.request.raw.headers.accept?.includes('text/event-stream') === true,
        wrap,
      });
    case 'initialize':
      if (!isOld) break;
      return result(
        { protocolVersion: versionFor(params['protocolVersion']), capabilities, serverInfo: about },
        { 'mcp-session-id': newClientId(request.capabilities) },
      );
    case 'ping':
      if (!isOld) break;
      return result({});
    case 'server/discover':
      if (isOld) break;
      return result({ supportedVersions: [newestVersion], capabilities, ...cacheable });
  }
  return failMessage('METHOD_NOT_FOUND', 'There is no method of this name.');
}

const cacheable = { ttlMs: 60_000, cacheScope: 'private' } as const;

/** A client of another version gets the newest of its era, and decides. */
function versionFor(asked: unknown): string {
  return olderVersions.find((version) => version === asked) ?? olderVersions[0];
}

const serverInfoKey = 'io.modelcontextprotocol/serverInfo';
