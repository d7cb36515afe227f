import type { FlexibleSchema } from 'ai';
import { z } from 'zod';

/** A tool as an agent knows it, whoever provides it. */
export interface AgentTool {
  /** As `agent.yaml` names it: `read_file`, or `server/tool` for one of an MCP server. */
  readonly name: string;
  /** As the model names it: providers take letters, digits, `_` and `-` only. */
  readonly wireName: string;
  readonly description: string;
  readonly inputSchema: FlexibleSchema;
  /** Checks the input by itself: a person may have edited it. Never rejects but for a fault of ours. */
  run(input: unknown, signal: AbortSignal): Promise<ToolOutput>;
}

/** What the model gets to read. */
export const toolOutputSchema = z.object({ ok: z.boolean(), text: z.string() });
export type ToolOutput = z.infer<typeof toolOutputSchema>;

const toolOutputBytesMax = 64 * 1024;

export function succeeded(text: string): ToolOutput {
  return { ok: true, text };
}

export function failed(text: string): ToolOutput {
  return { ok: false, text };
}

/** The beginning of a text that is too long for a model, and a note that there was more. */
export function shortened(text: string, bytesMax = toolOutputBytesMax): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  // A streaming decoder leaves out the character that the cut went through.
  const start = new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true });
  return `${start}\n(cut here: ${bytes.length} bytes in all)`;
}
