import { modelName, telemetryProvider } from '../domain/usage/model-name.ts';
import type { EndedRun, Run } from '../domain/run/run.ts';
import { attemptOf } from '../domain/run/run.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { EndedWait, SpanAttributes, TracedCall, TracedRequest } from '../ports/traces.ts';

/** Attributes of the agent, for the spans of its runs. */
export interface TracedAgent {
  readonly digest?: string | undefined;
  readonly model?: string | undefined;
  readonly framework?: string | undefined;
  /**
   * Whether its framework reports each request to a model: the root then repeats no usage, or backends count it twice.
   */
  readonly reportsRequests: boolean;
}

/** Of each text that an operator wants in its spans. */
const contentMaxBytes = 16 * 1024;

/** The attributes of every span of a run's trace (D-584). */
export function ofRun(run: Run, { digest, model }: TracedAgent): SpanAttributes {
  const user = run.labels['user.id'];
  // The agent may have been edited since its leg.
  const version = run.agentDigest ?? digest;
  return {
    'gen_ai.conversation.id': run.sessionId,
    'session.id': run.sessionId,
    'gen_ai.agent.name': run.agentName,
    ...(version !== undefined && { 'gen_ai.agent.version': version }),
    'gen_ai.provider.name': telemetryProvider(model),
    'convoke.run_id': run.id,
    'convoke.tenant_id': run.tenantId,
    ...(typeof user === 'string' && { 'user.id': user }),
  };
}

export function ofRoot(run: EndedRun, agent: TracedAgent, hasContent: boolean): SpanAttributes {
  return {
    'openinference.span.kind': 'AGENT',
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.output.type': run.output === null ? 'text' : 'json',
    'convoke.status': run.status,
    'convoke.legs': run.leaseEpoch,
    'convoke.attempt': attemptOf(run),
    ...errorType(run.error?.code),
    ...(agent.reportsRequests ? {} : usageOfRun(run, agent)),
    ...(hasContent ? contentOfRun(run) : {}),
  };
}

export function ofLeg(epoch: number): SpanAttributes {
  return { 'openinference.span.kind': 'CHAIN', 'convoke.leg': epoch };
}

export function ofLegEnd(outcome: string, error: string | undefined): SpanAttributes {
  return { 'convoke.outcome': outcome, ...errorType(error) };
}

export const ofStart: SpanAttributes = { 'openinference.span.kind': 'CHAIN' };

export function ofRequest({ model, error, usage }: TracedRequest): SpanAttributes {
  const name = modelName(model);
  return {
    'openinference.span.kind': 'LLM',
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': telemetryProvider(model),
    ...namesOfModel(name),
    ...errorType(error),
    ...(usage && {
      ...tokens(usage.inputTokens, usage.outputTokens),
      'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    }),
  };
}

export function ofCall(call: TracedCall, hasContent: boolean): SpanAttributes {
  return {
    'openinference.span.kind': 'TOOL',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.call.id': call.id,
    ...errorType(call.error),
    ...(hasContent ? contentOfCall(call) : {}),
  };
}

export function ofWait({ interaction }: EndedWait): SpanAttributes {
  return {
    'openinference.span.kind': 'CHAIN',
    'convoke.interaction.kind': interaction.kind,
    'convoke.interaction.decision': decisionOf(interaction),
    ...(interaction.kind === 'permission' && { 'gen_ai.tool.name': interaction.toolName }),
  };
}

function decisionOf(interaction: EndedWait['interaction']): string {
  if (interaction.status !== 'answered') return interaction.status;
  const { answer } = interaction;
  if (answer.kind === 'permission') return answer.decision;
  return 'declined' in answer ? 'declined' : 'answered';
}

function errorType(error: string | undefined): SpanAttributes {
  return error === undefined ? {} : { 'error.type': error };
}

function namesOfModel(name: string): SpanAttributes {
  return { 'gen_ai.request.model': name, 'llm.model_name': name };
}

function tokens(input: number, output: number): SpanAttributes {
  return {
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    'llm.token_count.prompt': input,
    'llm.token_count.completion': output,
  };
}

function usageOfRun({ usage }: EndedRun, { model }: TracedAgent): SpanAttributes {
  return {
    ...(model !== undefined && namesOfModel(modelName(model))),
    ...(usage && tokens(usage.inputTokens, usage.outputTokens)),
  };
}

function contentOfRun({ input, output, outputText, status }: EndedRun): SpanAttributes {
  const asked = JSON.parse(input) as JsonObject;
  const { prompt } = asked;
  const isPrompt = typeof prompt === 'string' && Object.keys(asked).length === 1;
  const said = cut(isPrompt ? prompt : input);
  const given = output ?? outputText;
  const answer = given === null ? undefined : cut(given);
  return {
    'gen_ai.input.messages': JSON.stringify([message('user', said)]),
    'input.value': said,
    ...(answer !== undefined && {
      'gen_ai.output.messages': JSON.stringify([
        { ...message('assistant', answer), finish_reason: finishReasons[status] },
      ]),
      'output.value': answer,
    }),
  };
}

/** The conventions require a reason, and have none for a run that was cancelled. */
const finishReasons: Readonly<Record<EndedRun['status'], string>> = {
  completed: 'stop',
  failed: 'error',
  cancelled: 'cancelled',
};

function message(role: 'user' | 'assistant', content: string) {
  return { role, parts: [{ type: 'text', content }] };
}

function contentOfCall({ input, output }: TracedCall): SpanAttributes {
  const given = input === undefined ? undefined : cut(textOf(input));
  const got = output === undefined ? undefined : cut(textOf(output));
  return {
    ...(given !== undefined && { 'gen_ai.tool.call.arguments': given, 'input.value': given }),
    ...(got !== undefined && { 'gen_ai.tool.call.result': got, 'output.value': got }),
  };
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** At a whole character. */
function cut(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= contentMaxBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, contentMaxBytes), { stream: true });
}
