import type { FlexibleSchema } from 'ai';
import type { Json } from '../../../domain/json.ts';
import type { KnownWait } from '../../../domain/run/wait.ts';
import type { HarnessEvent } from '../../../ports/harness.ts';
import type { ToolOutput } from './agent-tool.ts';

type WaitEvent = Extract<HarnessEvent, { type: 'wait' }>;
type SettledWait = Extract<KnownWait, { state: 'settled' }>;

/** A tool that runs nothing: the run waits, as a row, and what it has waited for is the result. */
export interface WaitTool {
  /** For the model, too. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: FlexibleSchema;
  /** The wait; undefined if the input is invalid. */
  request(ref: string, input: Json): WaitEvent | undefined;
  /** The result as the model reads it. */
  resultOf(wait: SettledWait): ToolOutput;
}
