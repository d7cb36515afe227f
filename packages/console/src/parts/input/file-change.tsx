import { ConvokeError, type FileRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { type Ask, inputOf } from '../../data/ask.ts';
import { bytes } from '../../data/formats.ts';
import { maxShownCharacters } from '../../data/json-text.ts';
import { changedText, filesAt, placeOf, writtenFile } from '../../data/input/written-file.ts';
import { listFiles } from '../../session/api.ts';
import type { TenantScope } from '../../session/tenant-clients.ts';
import { useResource, useTenant } from '../../session/use.ts';
import { Time } from '../time.tsx';
import { Difference } from './difference.tsx';

type Change =
  | {
      readonly file: FileRecord;
      readonly isAttached: boolean;
      readonly before: string;
      readonly after: string;
    }
  | { readonly path: string; readonly whyNot: string };

/**
 * The change that a call would make to a file of the session, or why it cannot be shown, with the call's whole input
 * (D-445).
 */
export function FileChange({ ask }: { readonly ask: Ask }): JSX.Element | null {
  const tenant = useTenant();
  const found = useResource(`${tenant.tenantId}/file-change/${ask.key}`, () =>
    readChange(tenant, ask),
  );
  const change = found.data.value;
  if (change === undefined) return null;
  if ('whyNot' in change) {
    return (
      <p class="muted small">
        No comparison for <code>{change.path}</code>: {change.whyNot}
      </p>
    );
  }
  const { file, isAttached, before, after } = change;
  return (
    <div class="stack tight">
      <p class="muted small">
        Compared with <code>{file.name}</code>, {isAttached ? 'attached' : 'saved'}{' '}
        <Time at={file.created_at} />
        {isAttached && '. Changes that the agent made since then are not included.'}
      </p>
      <Difference label={`Changes to ${file.name}`} before={before} after={after} />
    </div>
  );
}

async function readChange(tenant: TenantScope, ask: Ask): Promise<Change | undefined> {
  const written = writtenFile(ask.toolName, inputOf(ask));
  if (written === undefined) return undefined;
  const { path, change } = written;
  const no = (whyNot: string): Change => ({ path, whyNot });
  const place = placeOf(path);
  if (place === undefined) return no('only attached files and files in outputs/ can be read here.');
  const files = await filesOf(tenant, ask.sessionId);
  if (files === undefined) return no('the files of this session cannot be read.');
  const [file, ...others] = filesAt(files, place);
  if (file === undefined) return no('the session has no saved version of it.');
  if (others.length > 0) return no('several attached files have this name.');
  const size = file.size_bytes ?? 0;
  if (size > maxShownCharacters) return no(`at ${bytes(size)} the saved version is too long.`);
  const before = await (
    await tenant.client.sessions.at(file.session_id).files.download(file.id)
  ).text();
  if (before.includes('\u0000')) return no('the saved version is not text.');
  const after = changedText(before, change);
  if (after === undefined) return no('the saved version does not contain the text to replace.');
  return { file, isAttached: place.folder === 'files', before, after };
}

/** Undefined where the agent takes no files. */
async function filesOf(tenant: TenantScope, session: string) {
  try {
    return await listFiles(tenant, session);
  } catch (error) {
    if (error instanceof ConvokeError && error.code === 'files_unavailable') return undefined;
    throw error;
  }
}
