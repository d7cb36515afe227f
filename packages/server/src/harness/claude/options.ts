import type { LegContext } from '../../ports/harness.ts';
import type { Gate } from './permission-hook.ts';
import type { ClaudeProcess } from './process.ts';
import { askToolName } from './questions.ts';
import type { ClaudeSettings } from './settings.ts';

/** A person may take days; the hook itself only waits for the end of a message. */
const hookSeconds = 60;

export interface QueryParts {
  readonly context: LegContext;
  /** With the secrets in them. */
  readonly settings: ClaudeSettings;
  readonly gate: Gate;
  readonly session: string | undefined;
  readonly abort: AbortController;
  readonly spawn: (call: SpawnCall) => ClaudeProcess;
}

export interface SpawnCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How Claude is run: every call through our gate, and of the workspace only what the agent is meant to read. */
export function queryOptions(parts: QueryParts): Readonly<Record<string, unknown>> {
  const { context, settings, gate, session, abort, spawn } = parts;
  const { agent, sessionFolder } = context;
  return {
    cwd: sessionFolder,
    env: {
      ...quiet,
      ...(agent.enableClaudeMd ? {} : { CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1' }),
      ...settings.env,
    },
    abortController: abort,
    spawnClaudeCodeProcess: spawn,
    includePartialMessages: true,
    permissionMode: 'default',
    // A hook that failed, or was switched off in the workspace, must not leave a call ungated.
    hooks: {
      PreToolUse: [{ hooks: [gate.preToolUse], timeout: hookSeconds, onFailure: 'block' }],
    },
    canUseTool: gate.canUseTool,
    settingSources: ['project'],
    settings: { disableAllHooks: false },
    skills: agent.skills === 'none' ? [] : agent.skills,
    systemPrompt: {
      type: 'preset',
      preset: 'claude_code',
      ...(settings.instructions !== '' && { append: settings.instructions }),
    },
    maxTurns: settings.stepsMax,
    mcpServers: settings.mcpServers,
    strictMcpConfig: true,
    disallowedTools: settings.asksUser ? [] : [askToolName],
    ...(agent.model !== undefined && { model: agent.model.replace(/^anthropic\//, '') }),
    ...(session !== undefined && { resume: session }),
  };
}

/** Nothing that Claude's program does beside its work. */
const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  DISABLE_AUTOUPDATER: '1',
};
