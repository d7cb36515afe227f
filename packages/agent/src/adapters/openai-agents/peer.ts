// As much of the OpenAI Agents SDK as its adapter uses. It is an optional peer: an agent's folder has its own, and this
// repository has none.

export interface ModelRequest {
  readonly input: string | readonly object[];
  readonly signal?: AbortSignal;
}
export interface ModelResponse {
  readonly usage: object;
  readonly output: object[];
  readonly responseId?: string;
}
export interface StreamEvent {
  readonly type: string;
}
export interface Model {
  getResponse(request: ModelRequest): Promise<ModelResponse>;
  getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent>;
}
export interface ModelProvider {
  getModel(name?: string): Promise<Model> | Model;
}
export interface FunctionTool {
  readonly type: string;
  readonly name: string;
  needsApproval: (context: unknown, input: unknown, callId?: string) => Promise<boolean>;
  invoke: (context: unknown, input: string, details?: ToolDetails) => Promise<unknown>;
}
export interface ToolDetails {
  readonly toolCall?: { readonly callId: string };
}
export interface SdkAgent {
  model: string | Model;
  getAllTools: (this: SdkAgent, ...args: unknown[]) => Promise<FunctionTool[]>;
  asTool: (this: SdkAgent, ...args: unknown[]) => FunctionTool;
}
interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
  readonly strict: boolean;
  readonly execute: (input: unknown, context: unknown, details?: ToolDetails) => unknown;
}
export interface OpenAiAgents {
  readonly Agent: { readonly prototype: SdkAgent };
  readonly OpenAIProvider: new (options?: object) => ModelProvider;
  readonly Usage: new (usage: object) => object;
  readonly setDefaultModelProvider: (provider: ModelProvider) => void;
  readonly tool: (definition: ToolDefinition) => FunctionTool;
}
