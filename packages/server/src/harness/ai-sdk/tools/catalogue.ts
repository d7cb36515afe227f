import { type ToolSet, dynamicTool } from 'ai';
import { type AgentTool, type ToolOutput, type ToolUse, failed } from './agent-tool.ts';
import { askUserDescription, askUserName, askUserSchema } from './ask-user.ts';
import { submitName, type submitTool } from './submit-output.ts';
import type { WaitTool } from './wait-tool.ts';

/** The tools of one leg, by the name for the model and by the name in `agent.yaml`. */
export interface Catalogue {
  /** For the SDK, which can run none of them: it only reports their calls. */
  readonly toolSet: ToolSet;
  byWireName(wireName: string): AgentTool | undefined;
  byName(name: string): AgentTool | undefined;
  /** Those for which the run waits. Their name for the model is that in `agent.yaml`. */
  waitTool(name: string): WaitTool | undefined;
  /** An exception is a fault of the server and may contain paths, so the model learns only that the tool failed. */
  run(tool: AgentTool, input: unknown, use: ToolUse): Promise<ToolOutput>;
}

/** Tools that the leg answers itself. */
export interface OwnTools {
  readonly asksUser: boolean;
  readonly waits: readonly WaitTool[];
  /** Of an agent with an `output_schema`. */
  readonly submit: ReturnType<typeof submitTool>;
}

/**
 * The SDK gets every tool without an `execute` function, so it can run none, whatever its defaults are. Calls come back
 * unanswered, and the leg runs each through the ledger, which knows the rules about it (D-80, D-507).
 */
export function catalogueOf(
  tools: readonly AgentTool[],
  { asksUser, waits, submit }: OwnTools,
): Catalogue {
  const byWait = new Map(waits.map((tool) => [tool.name, tool]));
  const byWireName = uniquelyNamed(tools, new Set([...ownNames, ...byWait.keys()]));
  const byName = new Map([...byWireName.values()].map((tool) => [tool.name, tool]));
  const run: Catalogue['run'] = (tool, input, use) =>
    tool.run(input, use).catch(() => failed(`${tool.name} failed on this server`));
  const toolSet: ToolSet = {};
  for (const [wireName, tool] of byWireName) {
    const { description, inputSchema } = tool;
    toolSet[wireName] = dynamicTool({ description, inputSchema });
  }
  if (asksUser) {
    toolSet[askUserName] = dynamicTool({
      description: askUserDescription,
      inputSchema: askUserSchema,
    });
  }
  for (const { name, description, inputSchema } of waits) {
    toolSet[name] = dynamicTool({ description, inputSchema });
  }
  if (submit !== undefined) toolSet[submitName] = submit;
  return {
    toolSet,
    byWireName: (wireName) => byWireName.get(wireName),
    byName: (name) => byName.get(name),
    waitTool: (name) => byWait.get(name),
    run,
  };
}

const ownNames: ReadonlySet<string> = new Set([askUserName, submitName]);

/** Two names can become equal when they are cut to what providers accept; a suffix tells them apart. */
function uniquelyNamed(
  tools: readonly AgentTool[],
  taken: ReadonlySet<string>,
): ReadonlyMap<string, AgentTool> {
  const named = new Map<string, AgentTool>();
  for (const tool of tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    let wireName = tool.wireName;
    for (let again = 2; named.has(wireName) || taken.has(wireName); again += 1) {
      const suffix = `_${again}`;
      wireName = tool.wireName.slice(0, 64 - suffix.length) + suffix;
    }
    named.set(wireName, tool);
  }
  return named;
}
