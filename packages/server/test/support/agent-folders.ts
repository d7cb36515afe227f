import { mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { agentSchema, toDeclaredAgent } from '../../src/agents/agent-schema.ts';
import type { Agent } from '../../src/domain/agent.ts';
import type { ContextTexts } from '../../src/domain/context.ts';
import type { Json } from '../../src/domain/json.ts';
import type { AgentProblem, DeclaredAgent, Harness } from '../../src/ports/harness.ts';
import type { Log, LogFields } from '../../src/ports/log.ts';

/** A temporary folder for one test, removed afterwards. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-harness-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** Writes files by their paths below `folder`, with the folders they need. */
export async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    // In one step, as editors do, so that no reader sees half a file.
    await writeFile(join(folder, `${path}.draft`), text);
    await rename(join(folder, `${path}.draft`), join(folder, path));
  }
}

/** An agent made by hand: its settings are keys of `agent.yaml`, until `readBy` has a harness read them. */
interface DraftAgent extends Agent {
  readonly isDraft: true;
}

export function agentOf(parts: Partial<Agent> & { readonly script?: Json }): DraftAgent {
  const { script, ...rest } = parts;
  return {
    name: 'tester',
    description: '',
    framework: 'scripted',
    approvalRequiredTools: [],
    rules: [],
    sessionFiles: false,
    onBusy: 'queue',
    contextFiles: [],
    enableClaudeMd: false,
    skills: 'all',
    limits: { runSeconds: 900, waitHours: 72 },
    recovery: {
      onLoss: 'resume',
      attempts: 3,
      inDoubt: 'ask',
      repeatableTools: [],
      cutMessage: 'continue',
    },
    tenants: { default: 'enabled', allow: [], deny: [] },
    publish: [],
    folder: '/nonexistent',
    settings: script === undefined ? {} : { script },
    hasFixedToolInput: false,
    digest: 'digest',
    isDraft: true,
    ...rest,
  };
}

/** Has the harness read the settings, as the registry does; returns an agent that is not a draft unchanged. */
export function readBy(harness: Pick<Harness, 'read'>, agent: Agent): Agent {
  if (!('isDraft' in agent)) return agent;
  const { isDraft: _, ...rest } = agent;
  const read = harness.read(declaredOf(agent));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return { ...rest, settings: read.settings };
}

/** What a harness finds wrong with an agent. */
export function problemsWith(
  harness: Pick<Harness, 'read'>,
  agent: Agent,
): readonly AgentProblem[] {
  const read = harness.read(declaredOf(agent));
  return read.ok ? [] : read.problems;
}

/** Tests may write a key into `env` instead of a reference to one. */
const draftSchema = agentSchema.extend({ env: z.record(z.string(), z.string()).default({}) });

function declaredOf(agent: Agent): DeclaredAgent {
  const { settings, ...rest } = agent;
  const { instructions, ...keys } = z
    .looseObject({ instructions: z.string().optional() })
    .parse(settings);
  const yaml = draftSchema.parse({ framework: agent.framework, ...keys });
  const { declared } = toDeclaredAgent(yaml, {
    ...agent,
    instructions,
    schemas: {},
    onLoss: 'resume',
  });
  return { ...rest, declared };
}

/** For legs of agents without context files and skills. */
export const noTexts: ContextTexts = { files: [], skills: [] };

/** A harness for reading folders only: the settings are the keys as they were declared. */
export const declaringHarness: Pick<Harness, 'read'> = {
  read: ({ declared }) => ({ ok: true, settings: declared }),
};

export interface RecordedLog extends Log {
  readonly warnings: { readonly message: string; readonly fields: LogFields | undefined }[];
  readonly infos: string[];
}

export function recordingLog(): RecordedLog {
  const warnings: RecordedLog['warnings'] = [];
  const infos: string[] = [];
  return {
    warnings,
    infos,
    info: (message) => infos.push(message),
    warn: (message, fields) => warnings.push({ message, fields }),
    error: (message, error) => {
      throw new Error(message, { cause: error });
    },
  };
}
