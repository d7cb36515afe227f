import type { FileRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes } from '../../data/formats.ts';
import { inBackground } from '../../data/in-background.ts';
import { Button } from '../../parts/button.tsx';
import { download } from '../../parts/copy.tsx';
import { Confirm, Dialog, useAction } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Card, Await } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Empty } from '../../parts/states.tsx';
import { listFiles } from '../../session/api.ts';
import { useResource, useRight, useTenant } from '../../session/use.ts';

/** Types that the page shows; everything else is a download. None of them can hold a script. */
const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const maxPreviewBytes = 1_000_000;

export function SessionFiles({ sessionId }: { readonly sessionId: string }): JSX.Element {
  const tenant = useTenant();
  const mayWrite = useRight('files:write');
  const { files: api } = tenant.client.sessions.at(sessionId);
  const files = useResource(`${tenant.tenantId}/files/${sessionId}`, () =>
    listFiles(tenant, sessionId),
  );
  const picker = useRef<HTMLInputElement>(null);
  const upload = useAction(async (chosen: readonly File[]) => {
    for (const file of chosen) await api.upload(file);
    await files.refresh();
  });
  return (
    <Card
      title="Files"
      aside={
        <>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files to upload"
            onChange={(event) => {
              const chosen = [...(event.currentTarget.files ?? [])];
              event.currentTarget.value = '';
              inBackground(upload.run(chosen));
            }}
          />
          <Button
            size="small"
            onClick={() => picker.current?.click()}
            isAllowed={mayWrite}
            disabled={upload.isBusy}
          >
            {upload.isBusy ? 'Uploading' : 'Upload'}
          </Button>
        </>
      }
    >
      {upload.error !== undefined && <ProblemNote error={upload.error} />}
      <Await resource={files}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No files yet." />
          ) : (
            <div class="list">
              {all.map((file) => (
                <FileRow key={file.id} file={file} onGone={() => inBackground(files.refresh())} />
              ))}
            </div>
          )
        }
      </Await>
    </Card>
  );
}

function FileRow(props: { readonly file: FileRecord; readonly onGone: () => void }): JSX.Element {
  const { file, onGone } = props;
  const { client } = useTenant();
  const mayWrite = useRight('files:write');
  const [open, setOpen] = useState<'preview' | 'delete' | undefined>(undefined);
  const { files: api } = client.sessions.at(file.session_id);
  const get = useAction(async () => {
    const response = await api.download(file.id);
    download(file.name, await response.blob());
  });
  return (
    <div class="list-row">
      <div class="grow">
        <button
          type="button"
          class="button quiet small file-name"
          onClick={() => setOpen('preview')}
          disabled={file.status !== 'ready'}
        >
          <span class="clip">{file.name}</span>
        </button>
        {get.error !== undefined && <ProblemNote error={get.error} />}
      </div>
      <span class="muted small nowrap">
        {file.size_bytes === undefined ? 'Not uploaded' : bytes(file.size_bytes)}
      </span>
      <Button size="small" kind="quiet" onClick={get.run} ariaLabel={`Download ${file.name}`}>
        <Icon name="Download" />
      </Button>
      {mayWrite && (
        <Button
          size="small"
          kind="quiet"
          onClick={() => setOpen('delete')}
          ariaLabel={`Delete ${file.name}`}
        >
          <Icon name="X" />
        </Button>
      )}
      {open === 'preview' && <Preview file={file} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <Confirm
          title={`Delete ${file.name}?`}
          action="Delete"
          onConfirm={async () => {
            await api.delete(file.id);
            onGone();
          }}
          onClose={() => setOpen(undefined)}
        >
          <p>Future runs won’t see it.</p>
        </Confirm>
      )}
    </div>
  );
}

type Content = { readonly text: string } | { readonly picture: string } | 'none';

function Preview(props: { readonly file: FileRecord; readonly onClose: () => void }): JSX.Element {
  const { file, onClose } = props;
  const { client } = useTenant();
  const [content, setContent] = useState<Content | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    let address: string | undefined;
    const { files } = client.sessions.at(file.session_id);
    contentOf(file, async () => (await files.download(file.id)).blob()).then(
      (shown) => {
        if (shown !== 'none' && 'picture' in shown) address = shown.picture;
        setContent(shown);
      },
      (problem: unknown) => setError(problem),
    );
    return () => {
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [file.id]);
  return (
    <Dialog title={file.name} onClose={onClose} class="wide">
      {error !== undefined && <ProblemNote error={error} />}
      {content === 'none' && (
        <p class="muted">No preview for this type. Download the file instead.</p>
      )}
      {content !== undefined && content !== 'none' && 'text' in content && (
        <div class="code-block">
          <pre tabIndex={0}>{content.text}</pre>
        </div>
      )}
      {content !== undefined && content !== 'none' && 'picture' in content && (
        <img class="picture" src={content.picture} alt={file.name} />
      )}
      <div class="buttons end">
        <Button onClick={onClose} autofocus>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

/** The declared type is the agent's word: a picture is given a type of the list, text is never anything else. */
async function contentOf(file: FileRecord, read: () => Promise<Blob>): Promise<Content> {
  if ((file.size_bytes ?? 0) > maxPreviewBytes) return 'none';
  const type = file.content_type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (pictures.has(type)) {
    const blob = new Blob([await read()], { type });
    return { picture: URL.createObjectURL(blob) };
  }
  const blob = await read();
  const bytesOf = new Uint8Array(await blob.arrayBuffer());
  if (bytesOf.includes(0)) return 'none';
  return { text: new TextDecoder().decode(bytesOf) };
}
