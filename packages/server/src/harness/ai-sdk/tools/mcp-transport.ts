import { type JSONRPCMessage, type MCPTransport, validateJSONRPCMessage } from '@ai-sdk/mcp';
import type { SandboxedProcess } from '../../../ports/sandbox.ts';
import { inBackground } from '../../../runtime/in-background.ts';
import { withCallKey } from './mcp-call-key.ts';

/** A longer line is treated as a fault of the server. */
const lineCharsMax = 8 * 1024 * 1024;

/** MCP over the standard streams of a program in the sandbox: one message per line. */
export class SandboxedTransport implements MCPTransport {
  readonly supportsProtocolVersionDiscovery = true;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #start: () => Promise<SandboxedProcess>;
  #child: SandboxedProcess | undefined;

  constructor(start: () => Promise<SandboxedProcess>) {
    this.#start = start;
  }

  async start(): Promise<void> {
    const child = await this.#start();
    this.#child = child;
    child.stdin.on('error', (error) => this.onerror?.(error));
    this.#read(child).catch((error: unknown) => this.#report(error));
    inBackground(child.exited.then(() => this.onclose?.()));
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {};
    if (stdin?.writable !== true) return Promise.reject(new Error('the MCP server has ended'));
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(withCallKey(message))}\n`, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }

  async close(): Promise<void> {
    await this.#child?.kill();
  }

  /** The end of its standard error, for error messages. */
  errorOutput(): string {
    return this.#child?.errorOutput() ?? '';
  }

  async #read({ stdout }: SandboxedProcess): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of stdout) {
      const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#take(line);
      if (rest.length > lineCharsMax) {
        await this.close();
        throw new Error(`a line of an MCP server has more than ${lineCharsMax} characters`);
      }
    }
  }

  #take(line: string): void {
    // Some servers print a greeting to standard output, so other lines are ignored.
    if (!line.startsWith('{')) return;
    try {
      this.onmessage?.(validateJSONRPCMessage(JSON.parse(line)));
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}
