import type { FlexibleSchema } from 'ai';
import type { Touches } from '../../../domain/run/tool-call.ts';

/** A tool that an agent can call: bundled, or of an MCP server. */
export interface AgentTool {
  /** Its name in `agent.yaml`: `read_file`, or `server/tool` for a tool of an MCP server. */
  readonly name: string;
  /** Its name for the model: providers accept letters, digits, `_` and `-` only. */
  readonly wireName: string;
  readonly description: string;
  readonly inputSchema: FlexibleSchema;
  /** The effects that a call can have (D-81). A call without effects may be repeated at any time. */
  readonly touches: Touches | 'none';
  /** Whether a call may be carried out twice without harm, by the nature of the tool or because its server says so. */
  readonly isRepeatable: boolean;
  /** Validates the input itself, because a person may have edited it. Rejects only on a fault of the server. */
  run(input: unknown, use: ToolUse): Promise<ToolOutput>;
}

export interface ToolUse {
  readonly signal: AbortSignal;
  /** The same in every attempt of the call, and of no other call (D-82). */
  readonly key: string;
  /** The call as the parent of what its tool does elsewhere, while traces are exported (D-588). */
  readonly traceparent?: string | undefined;
}

/** The result as the model reads it. */
export interface ToolOutput {
  readonly ok: boolean;
  readonly text: string;
}

const toolOutputBytesMax = 64 * 1024;

export function succeeded(text: string): ToolOutput {
  return { ok: true, text };
}

export function failed(text: string): ToolOutput {
  return { ok: false, text };
}

/** Cuts a text that is too long for a model and appends a note with its full size. */
export function shortened(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= toolOutputBytesMax) return text;
  // A streaming decoder drops a character that the cut split.
  const start = new TextDecoder().decode(bytes.subarray(0, toolOutputBytesMax), { stream: true });
  return `${start}\n(cut here: ${bytes.length} bytes in all)`;
}
