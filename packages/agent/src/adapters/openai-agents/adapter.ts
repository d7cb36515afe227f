// Imported before agents and tools are made: each model request and each tool call of the SDK becomes a step.
import { current } from '../../current.ts';
import { Misuse } from '../../failures.ts';
import { asError, plain } from '../model-answer.ts';
import { type StoredResponse, inputOf, reportUsage, shapeOf, textOf } from './items.ts';
import type {
  FunctionTool,
  Model,
  ModelProvider,
  ModelRequest,
  ModelResponse,
  OpenAiAgents,
  SdkAgent,
  StreamEvent,
  ToolDetails,
} from './peer.ts';
import {
  askUser as ask,
  askUserDescription,
  askUserName,
  askUserSchema,
  callAgent,
  callTool,
  tellDoubt,
} from '../tool-steps.ts';
import {
  type AgentToolOptions,
  agentToolSchema,
  callForModel,
  isWaitingTool,
  nameOfAgentTool,
  sleepForModel,
  sleepToolDescription,
  sleepToolName,
  sleepToolSchema,
  waitingTool,
} from '../wait-tools.ts';

export type { AgentToolOptions } from '../wait-tools.ts';

// The name of a package that this repository does not have, so its types are those above (D-179).
const { Agent, OpenAIProvider, Usage, setDefaultModelProvider, tool } = (await import(
  '@openai/agents' satisfies string
)) as OpenAiAgents;

const durable = new WeakSet<object>();
/** Tools that are agents: their steps are durable, so their calls are no steps. */
const agents = new WeakSet<FunctionTool>();

/** A model whose requests are steps. The import does this to the model that an agent names or has. */
export function durableModel(model: Model, name = 'model'): Model {
  if (durable.has(model)) return model;
  const own: Model = {
    async getResponse(request): Promise<ModelResponse> {
      const { id, usage, output } = await responseOf({ model, name }, request);
      return { usage: new Usage(usage), output: [...output], ...(id && { responseId: id }) };
    },
    async *getStreamedResponse(request): AsyncGenerator<StreamEvent & Record<string, unknown>> {
      const response = await responseOf({ model, name }, request);
      yield { type: 'output_text_delta', delta: textOf(response) };
      yield { type: 'response_done', response };
    },
  };
  durable.add(own);
  return own;
}

/** For a `Runner` with a provider of its own. */
export function durableProvider(provider: ModelProvider): ModelProvider {
  return { getModel: async (name) => durableModel(await provider.getModel(name), name) };
}

/** A tool with which the model asks the user. */
export const askUser = toolThatWaits(
  { name: askUserName, description: askUserDescription, parameters: askUserSchema },
  ({ id, input }) => ask(id, input),
);

/** A tool with which the model sleeps. */
export const sleepTool = toolThatWaits(
  { name: sleepToolName, description: sleepToolDescription, parameters: sleepToolSchema },
  sleepForModel,
);

/** A tool with which the model calls another agent, and waits for its answer. */
export function agentTool(agent: string, options: AgentToolOptions): FunctionTool {
  const { description } = options;
  return toolThatWaits(
    { name: nameOfAgentTool(agent), description, parameters: agentToolSchema },
    (call) => callForModel(call, agent, options),
  );
}

setDefaultModelProvider(
  durableProvider(new OpenAIProvider({ cacheResponsesWebSocketModels: false })),
);

const { getAllTools, asTool } = Agent.prototype;
Agent.prototype.asTool = function durableAsTool(this: SdkAgent, ...args) {
  const made = asTool.apply(this, args);
  agents.add(made);
  return made;
};
Agent.prototype.getAllTools = async function durableTools(this: SdkAgent, ...args) {
  if (typeof this.model === 'object') this.model = durableModel(this.model);
  const tools = await getAllTools.apply(this, args);
  for (const each of tools) makeDurable(each);
  return tools;
};

interface NamedModel {
  readonly model: Model;
  readonly name: string;
}

async function responseOf(
  { model, name }: NamedModel,
  request: ModelRequest,
): Promise<StoredResponse> {
  const { ctx, steps } = current();
  const isHeard = !steps.isNested;
  const shape = typeof request.input === 'string' ? ['user'] : request.input.map(shapeOf);
  const stored = await steps.request({ model: name, shape }, async () => {
    for await (const event of model.getStreamedResponse(request)) {
      if (event.type === 'output_text_delta' && 'delta' in event && isHeard) {
        ctx.say(String(event.delta));
      }
      if (event.type === 'response_done' && 'response' in event) return plain(event.response);
    }
    throw asError('The model ended its stream before its answer was complete.');
  });
  const response = stored as StoredResponse;
  reportUsage(name, response);
  return response;
}

type ToolDescription = Pick<
  Parameters<OpenAiAgents['tool']>[0],
  'name' | 'description' | 'parameters'
>;

/** A tool whose call is no step. */
function toolThatWaits(
  shown: ToolDescription,
  work: (call: { readonly id: string; readonly input: unknown }) => Promise<string>,
): FunctionTool {
  const made = tool({
    ...shown,
    strict: false,
    execute: (input, _context, details) => work({ id: details?.toolCall?.callId ?? '', input }),
  });
  return waitingTool(made);
}

/** In place: the SDK knows tools by their identity. */
function makeDurable(own: FunctionTool): void {
  if (durable.has(own) || isWaitingTool(own)) return;
  if (['computer', 'shell', 'apply_patch'].includes(own.type) && 'needsApproval' in own) {
    throw new Misuse(`Tool "${own.name}" cannot be a step. Use a function tool instead.`);
  }
  if (own.type !== 'function') return;
  durable.add(own);
  const { needsApproval, invoke } = own;
  own.needsApproval = async () => false;
  own.invoke = async (context, text, details) => {
    const { steps } = current();
    const input = inputOf(text);
    const call = { id: details?.toolCall?.callId ?? '', tool: own.name, input };
    if (await needsApproval.call(own, context, input, call.id)) {
      const permission = await steps.permit(call);
      if (!permission.allowed) return permission.reason ?? 'Tool execution was not approved.';
      call.input = agents.has(own) ? permission.input : input;
    }
    // A copy of the details has not the input that the SDK has parsed: it may be another one now.
    const work = (approved: unknown, more?: ToolDetails) =>
      invoke.call(own, context, JSON.stringify(approved), { ...more });
    if (agents.has(own)) return callAgent(call, () => work(call.input, details));
    return tellDoubt(() => callTool(call, (approved) => work(approved, details)));
  };
}
