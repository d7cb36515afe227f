import { current } from '../../current.ts';
import type { Json } from '../../json.ts';
import type { Permission, PermissionRequest } from '../../permissions.ts';
import { askFor } from '../asked-value.ts';
import { type Content, isOpen, resumesOf } from './content.ts';
import { type CallInterrupt, foundElsewhere } from './calls.ts';
import type { GraphSaver } from './saver.ts';
import { plain } from '../model-answer.ts';
import { type GraphWait, waitedFor } from './waits.ts';

export interface Task {
  readonly id: string;
  readonly interrupts: readonly { readonly id?: string; readonly value?: unknown }[];
}

interface Action {
  readonly name: string;
  readonly args: Json;
}

/** The tasks that wait for people, with their unanswered interrupts. */
export function openTasks(tasks: readonly Task[], content: Content): readonly Task[] {
  return tasks.flatMap(({ id, interrupts: all }) => {
    const interrupts = all.filter((each) => isOpen(content, each.id ?? ''));
    return interrupts.length > 0 ? [{ id, interrupts }] : [];
  });
}

/**
 * Gets what the interrupts of a graph want, all at once, mostly from people. Returns the answers by the ids of
 * interrupts.
 */
export async function answersTo(
  saver: GraphSaver,
  tasks: readonly Task[],
): Promise<Readonly<Record<string, unknown>>> {
  const open = tasks.flatMap((task) => task.interrupts.map((each) => ({ ...each, task: task.id })));
  const answers = open.map(async ({ id = '', value, task }) => {
    // Two interrupts of a node have one id: how many answers its task has taken tells them apart (D-363).
    const key = `interrupt ${id} ${resumesOf(saver.content, task)}`;
    return [id, await answerTo(saver, key, plain(value) as Json | undefined)] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

async function answerTo(saver: GraphSaver, key: string, value: Json | undefined): Promise<unknown> {
  const { steps } = current();
  const { actionRequests, convoke, convokeCall, convokeWait } = (value ?? {}) as {
    readonly actionRequests?: readonly Action[];
    readonly convoke?: PermissionRequest;
    readonly convokeCall?: CallInterrupt & { readonly value?: Json };
    readonly convokeWait?: GraphWait;
  };
  if (convoke !== undefined) {
    await steps.permissions.ask(convoke);
    return foundElsewhere;
  }
  if (convokeCall !== undefined) {
    const { namespace, key: call, value: asked } = convokeCall;
    const answer = await answerTo(saver, `interrupt ${namespace} ${call}`, asked);
    saver.keepAnswer(namespace, call, plain(answer) as Json);
    return foundElsewhere;
  }
  return steps.inTask({ key, execution: {} }, async () => {
    if (convokeWait !== undefined) return waitedFor(convokeWait);
    if (!Array.isArray(actionRequests)) return (await askFor(value, 'The graph')) ?? null;
    const decisions = (actionRequests as readonly Action[]).map(async (action, index) => {
      const call = { id: String(index), tool: action.name, input: action.args };
      const permission = await steps.permit(call);
      if (permission.allowed) {
        saver.allowed.add(`${key} ${index}`, { tool: action.name, input: permission.input });
      }
      return decisionOf(action, permission);
    });
    return { decisions: await Promise.all(decisions) };
  });
}

/** As the middleware of LangChain for a person in the loop has it. */
function decisionOf({ name, args }: Action, permission: Permission) {
  if (!permission.allowed) return { type: 'reject', message: permission.reason ?? 'not allowed' };
  if (JSON.stringify(permission.input) === JSON.stringify(args)) return { type: 'approve' };
  return { type: 'edit', editedAction: { name, args: permission.input } };
}
