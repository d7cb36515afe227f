import type { LegContext } from '../../ports/harness.ts';
import { traceVariable } from '../trace-variable.ts';
import type { PermissionHook } from './permission-hook.ts';
import type { ClaudeProcess } from './process.ts';
import { askToolName } from './questions.ts';
import type { ClaudeSettings } from './settings.ts';
import { outputOption } from './structured-output.ts';

/** Timeout of the hook, which waits only for the end of a message, not for a person. */
const hookSeconds = 60;

export interface QueryParts {
  readonly context: LegContext;
  /** With references to secrets resolved. */
  readonly settings: ClaudeSettings;
  readonly permissionHook: PermissionHook;
  readonly session: string | undefined;
  readonly abort: AbortController;
  readonly spawn: (call: SpawnCall) => ClaudeProcess;
}

export interface SpawnCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Options of the SDK: every tool call goes through the permission hook, and Claude reads only those files of the
 * session folder that the agent enables.
 */
export function queryOptions(parts: QueryParts): Readonly<Record<string, unknown>> {
  const { context, settings, permissionHook, session, abort, spawn } = parts;
  const { agent, sessionFolder } = context;
  return {
    cwd: sessionFolder,
    env: {
      ...quiet,
      ...traceVariable(context),
      ...(agent.enableClaudeMd ? {} : { CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1' }),
      ...settings.env,
    },
    abortController: abort,
    spawnClaudeCodeProcess: spawn,
    includePartialMessages: true,
    permissionMode: 'default',
    // A hook that fails, or that settings in the session folder disable, must not let a call through.
    hooks: {
      PreToolUse: [
        { hooks: [permissionHook.preToolUse], timeout: hookSeconds, onFailure: 'block' },
      ],
    },
    canUseTool: permissionHook.canUseTool,
    settingSources: ['project'],
    settings: { disableAllHooks: false, disableSkillShellExecution: true, ...noHelpers },
    // Hooks of the session folder, which an agent can write, would be commands that no rule has seen, and could replace
    // the input of a call after it was decided (D-1040). Ours run nevertheless.
    managedSettings: { allowManagedHooksOnly: true },
    skills: agent.skills === 'none' ? [] : agent.skills,
    systemPrompt: {
      type: 'preset',
      preset: 'claude_code',
      ...(settings.instructions !== '' && { append: settings.instructions }),
    },
    maxTurns: settings.stepsMax,
    mcpServers: settings.mcpServers,
    strictMcpConfig: true,
    disallowedTools: [...wakeUpTools, ...(settings.asksUser ? [] : [askToolName])],
    ...outputOption(agent),
    ...(agent.model !== undefined && { model: agent.model.replace(/^anthropic\//, '') }),
    ...(session !== undefined && { resume: session }),
  };
}

/** Commands that settings may name, and that Claude would run beside its tools. */
const noHelpers = {
  apiKeyHelper: '',
  proxyAuthHelper: '',
  awsAuthRefresh: '',
  awsCredentialExport: '',
  gcpAuthRefresh: '',
  otelHeadersHelper: '',
};

/** They promise to wake the agent up later, and nothing does: its process ends with the leg (D-914). */
const wakeUpTools = ['ScheduleWakeup', 'CronCreate', 'CronList', 'CronDelete'];

/** Turns off what Claude's program does beside its task. */
const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  DISABLE_AUTOUPDATER: '1',
};
