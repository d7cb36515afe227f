import type { Agent, BrokenAgent } from '../domain/agent.ts';

/** The agents this deployment can invoke, as last read from their folders. Lookups never do I/O. */
export interface Agents {
  all(): readonly Agent[];
  find(name: string): Agent | undefined;
  /** Folders that could not be read as an agent. Other agents work regardless. */
  problems(): readonly BrokenAgent[];
  close(): Promise<void>;
}
