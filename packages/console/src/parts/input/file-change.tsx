import type { FileRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { type Ask, inputOf } from '../../data/ask.ts';
import { maxShownCharacters } from '../../data/json-text.ts';
import { writtenFile } from '../../data/input/written-file.ts';
import { listFiles } from '../../session/api.ts';
import type { TenantScope } from '../../session/tenant-clients.ts';
import { useResource, useTenant } from '../../session/use.ts';
import { Time } from '../time.tsx';
import { Difference } from './difference.tsx';

/** What a call would change in a file of the session, beside its whole input. Nothing for a file that is new. */
export function FileChange({ ask }: { readonly ask: Ask }): JSX.Element | null {
  const tenant = useTenant();
  const found = useResource(`${tenant.tenantId}/file-change/${ask.key}`, () =>
    readChange(tenant, ask),
  );
  const change = found.data.value;
  if (change === undefined) return null;
  const { file, before, after } = change;
  return (
    <div class="stack tight">
      <p class="muted small">
        Compared with <code>{file.name}</code>, saved <Time at={file.created_at} />
      </p>
      <Difference label={`Changes to ${file.name}`} before={before} after={after} />
    </div>
  );
}

async function readChange(tenant: TenantScope, ask: Ask) {
  const written = writtenFile(ask.toolName, inputOf(ask));
  if (written === undefined) return undefined;
  // The newest comes first: each change of a file is another one with the same name.
  const files = await listFiles(tenant, ask.sessionId);
  const file = files.find(({ name, status }) => name === written.name && status === 'ready');
  const before = file && (await textOf(tenant, file));
  if (file === undefined || before === undefined) return undefined;
  return { file, before, after: written.isAppended ? before + written.text : written.text };
}

async function textOf({ client }: TenantScope, file: FileRecord): Promise<string | undefined> {
  if ((file.size_bytes ?? 0) > maxShownCharacters) return undefined;
  const answer = await client.sessions.at(file.session_id).files.download(file.id);
  const text = await answer.text();
  return text.includes('\u0000') ? undefined : text;
}
