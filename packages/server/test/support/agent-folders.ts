import { mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Agent } from '../../src/domain/agent.ts';
import type { Json } from '../../src/domain/json.ts';
import type { Log, LogFields } from '../../src/ports/log.ts';
import { removeFolder } from '../../../../test/remove-folder.ts';

/** A folder of its own for one test, gone afterwards. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-harness-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** Writes files by their paths below `folder`, with the folders they need. */
export async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    // In one step, as editors do: nobody reads a file that is only half there.
    await writeFile(join(folder, `${path}.draft`), text);
    await rename(join(folder, `${path}.draft`), join(folder, path));
  }
}

export function agentOf(parts: Partial<Agent> & { readonly script?: Json }): Agent {
  const { script, ...rest } = parts;
  return {
    name: 'tester',
    description: '',
    framework: 'scripted',
    approvalRequiredTools: [],
    sessionFiles: false,
    onBusy: 'queue',
    contextFiles: [],
    enableClaudeMd: false,
    skills: 'all',
    limits: { runSeconds: 900, waitHours: 72 },
    tenants: { default: 'enabled', allow: [], deny: [] },
    folder: '/nonexistent',
    settings: script === undefined ? {} : { script },
    ...rest,
  };
}

export interface RecordedLog extends Log {
  readonly warnings: { readonly message: string; readonly fields: LogFields | undefined }[];
}

export function recordingLog(): RecordedLog {
  const warnings: RecordedLog['warnings'] = [];
  return {
    warnings,
    info: () => undefined,
    warn: (message, fields) => warnings.push({ message, fields }),
    error: (message, error) => {
      throw new Error(message, { cause: error });
    },
  };
}
