import { type ToolSet, dynamicTool } from 'ai';
import { type Agent, needsApproval } from '../../../domain/agent.ts';
import { type AgentTool, type ToolOutput, failed, toolOutputSchema } from './agent-tool.ts';
import { askUserDescription, askUserName, askUserSchema } from './ask-user.ts';

/** The tools of one leg, by the name for the model and by the name in `agent.yaml`. */
export interface Catalogue {
  /** For the SDK: tools it may run itself, and tools whose calls it only reports. */
  readonly toolSet: ToolSet;
  byWireName(wireName: string): AgentTool | undefined;
  byName(name: string): AgentTool | undefined;
  isGated(tool: AgentTool): boolean;
  /** An exception is a fault of the server and may contain paths, so the model learns only that the tool failed. */
  run(tool: AgentTool, input: unknown, signal: AbortSignal): Promise<ToolOutput>;
}

/**
 * The SDK gets a tool that needs approval without an `execute` function, so it can never run it, whatever its defaults
 * are. The call comes back unanswered, a person decides, and the leg runs it (D-39).
 */
export function catalogueOf(
  agent: Agent,
  tools: readonly AgentTool[],
  { asksUser, holdsLease }: { readonly asksUser: boolean; readonly holdsLease: () => boolean },
): Catalogue {
  const byWireName = uniquelyNamed(tools);
  const byName = new Map([...byWireName.values()].map((tool) => [tool.name, tool]));
  const isGated = (tool: AgentTool) => needsApproval(agent, tool.name);
  const run: Catalogue['run'] = async (tool, input, signal) => {
    if (!holdsLease()) return failed('The run continues on another server.');
    return tool.run(input, signal).catch(() => failed(`${tool.name} failed on this server`));
  };
  const toolSet: ToolSet = {};
  for (const [wireName, tool] of byWireName) {
    const { description, inputSchema } = tool;
    toolSet[wireName] = dynamicTool({
      description,
      inputSchema,
      ...(!isGated(tool) && { execute: executeOf(tool, run), toModelOutput }),
    });
  }
  if (asksUser) {
    toolSet[askUserName] = dynamicTool({
      description: askUserDescription,
      inputSchema: askUserSchema,
    });
  }
  return {
    toolSet,
    byWireName: (wireName) => byWireName.get(wireName),
    byName: (name) => byName.get(name),
    isGated,
    run,
  };
}

function executeOf(tool: AgentTool, run: Catalogue['run']) {
  return (input: unknown, { abortSignal }: { abortSignal?: AbortSignal }) =>
    run(tool, input, abortSignal ?? new AbortController().signal);
}

function toModelOutput({ output }: { output: unknown }) {
  const { ok, text } = toolOutputSchema.parse(output);
  return { type: ok ? ('text' as const) : ('error-text' as const), value: text };
}

/** Two names can become equal when they are cut to what providers accept; a suffix tells them apart. */
function uniquelyNamed(tools: readonly AgentTool[]): ReadonlyMap<string, AgentTool> {
  const named = new Map<string, AgentTool>();
  for (const tool of tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    let wireName = tool.wireName;
    for (let again = 2; named.has(wireName) || wireName === askUserName; again += 1) {
      const suffix = `_${again}`;
      wireName = tool.wireName.slice(0, 64 - suffix.length) + suffix;
    }
    named.set(wireName, tool);
  }
  return named;
}
