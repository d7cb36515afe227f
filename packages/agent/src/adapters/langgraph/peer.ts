// As much of LangGraph as its adapter uses. It is an optional peer: an agent's folder has its own, and this repository
// has none.

export interface CheckpointConfig {
  readonly configurable?: {
    readonly thread_id?: string;
    readonly checkpoint_ns?: string;
    readonly checkpoint_id?: string;
  };
}

export interface CheckpointTuple {
  readonly config: CheckpointConfig;
  readonly checkpoint: object;
  readonly metadata?: object;
  readonly pendingWrites?: [string, string, unknown][];
}

/** The parts of LangGraph that a checkpointer uses. */
interface Saver {
  readonly serde: {
    dumpsTyped(value: unknown): Promise<[string, Uint8Array]>;
    loadsTyped(type: string, value: string): Promise<unknown>;
  };
}

interface GraphInterrupt {
  readonly interrupts: readonly { readonly value?: unknown }[];
}

export interface LangGraph {
  readonly BaseCheckpointSaver: new () => Saver;
  readonly RunControl: new () => { requestDrain(): void };
  readonly Command: new (command: { readonly resume: object }) => object;
  readonly interrupt: (value: unknown) => unknown;
  readonly getConfig: () => object | undefined;
  readonly isGraphInterrupt: (error: unknown) => error is GraphInterrupt;
  readonly isGraphDrained: (error: unknown) => boolean;
}

export interface Callbacks {
  readonly BaseCallbackHandler: new () => object;
}

interface ToolFields {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
}

export interface LangChainTools {
  readonly tool: (work: (input: unknown) => unknown, fields: ToolFields) => object;
}

export interface LangChainSingletons {
  readonly AsyncLocalStorageProviderSingleton: {
    runWithConfig<T>(config: object, execute: () => T): T;
  };
}
