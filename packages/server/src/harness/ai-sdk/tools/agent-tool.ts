import type { FlexibleSchema } from 'ai';
import { z } from 'zod';

/** A tool that an agent can call: bundled, or of an MCP server. */
export interface AgentTool {
  /** Its name in `agent.yaml`: `read_file`, or `server/tool` for a tool of an MCP server. */
  readonly name: string;
  /** Its name for the model: providers accept letters, digits, `_` and `-` only. */
  readonly wireName: string;
  readonly description: string;
  readonly inputSchema: FlexibleSchema;
  /** Validates the input itself, because a person may have edited it. Rejects only on a fault of the server. */
  run(input: unknown, signal: AbortSignal): Promise<ToolOutput>;
}

/** The result as the model reads it. */
export const toolOutputSchema = z.object({ ok: z.boolean(), text: z.string() });
export type ToolOutput = z.infer<typeof toolOutputSchema>;

const toolOutputBytesMax = 64 * 1024;

export function succeeded(text: string): ToolOutput {
  return { ok: true, text };
}

export function failed(text: string): ToolOutput {
  return { ok: false, text };
}

/** Cuts a text that is too long for a model and appends a note with its full size. */
export function shortened(text: string, bytesMax = toolOutputBytesMax): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  // A streaming decoder drops a character that the cut split.
  const start = new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true });
  return `${start}\n(cut here: ${bytes.length} bytes in all)`;
}
