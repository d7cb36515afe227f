// Clients of `convoke mcp` that are not ours.
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type Filling, assistantsOver } from '../../../server/test/http/faces/mcp-clients.ts';

export interface Connecting extends Filling {
  readonly program: {
    readonly command: string;
    readonly args: string[];
    readonly env: Record<string, string>;
    readonly cwd: string;
  };
}

export const mcpClients = assistantsOver<Connecting>({
  old: ({ program }) => new OldTransport({ ...program, stderr: 'ignore' }),
  new: ({ program }) => new NewTransport({ ...program, stderr: 'ignore' }),
  asks: () => ({ form: {} }),
});
