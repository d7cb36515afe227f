import { once } from 'node:events';
import { McpServer, type Tool } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { printable, remark } from '../../terminal/output.ts';
import { noteTerminal } from '../note-terminal.ts';
import { type Calls, callTool, showsForms } from './calls.ts';

const usualListMs = 60_000;
/** D-219: how often one call may ask, and how long a person may take. */
const roundsMax = 100;
const roundMs = 600_000;

export interface Serving extends Calls {
  readonly version: string;
  /** How often the list of agents is compared with the one before (D-217). */
  readonly listMs?: number;
}

/** Serves the agents as tools on standard input and output, until the client closes them. */
export async function serveMcp(serving: Serving): Promise<void> {
  noteTerminal('an assistant');
  const transport = new StdioServerTransport();
  const closed = once(process.stdin, 'close');
  const handle = serveStdio(() => createServer(serving), {
    transport,
    onerror: (error) => remark(printable(`convoke: ${error.message}`)),
  });
  await closed;
  await handle.close();
}

/** Creates the server for one connection, of either era of the protocol (D-216). */
export function createServer({ version, listMs = usualListMs, ...calls }: Serving): McpServer {
  const mcp = new McpServer(
    { name: 'convoke', title: 'Convoke', version },
    {
      capabilities: { tools: { listChanged: true } },
      inputRequired: { maxRounds: roundsMax, roundTimeoutMs: roundMs },
    },
  );
  const { server } = mcp;
  let listed: readonly Tool[] = [];
  server.setRequestHandler('tools/list', async (_request, { mcpReq }) => {
    const tools = await calls.offered.tools(mcpReq.signal);
    listed = tools;
    return { tools };
  });
  server.setRequestHandler('tools/call', ({ params }, { mcpReq: context }) => {
    // oxlint-disable-next-line typescript/no-deprecated -- the only place where the older era names them
    const canAsk = showsForms(context, server.getClientCapabilities());
    const { name, arguments: given = {} } = params;
    return callTool(calls, { name, given, context, canAsk });
  });
  const timer = setInterval(() => {
    announceChange().catch(() => {});
  }, listMs).unref();
  server.onclose = () => clearInterval(timer);
  return mcp;

  /** A server that is away is no change. */
  async function announceChange(): Promise<void> {
    if (listed.length === 0) return;
    const tools = await calls.offered.tools();
    if (JSON.stringify(tools) === JSON.stringify(listed)) return;
    listed = tools;
    mcp.sendToolListChanged();
  }
}
