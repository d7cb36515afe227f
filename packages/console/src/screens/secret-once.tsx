import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { environmentOf } from '../data/snippets.ts';
import { Button } from '../parts/button.tsx';
import { copyText } from '../parts/copy.tsx';
import { guardLeaving } from '../page/router.ts';

/** A secret that a call issued, with the client id if there is one. */
export interface IssuedSecret {
  readonly clientId?: string | undefined;
  readonly secret: string;
}

/**
 * Holds one secret until the person has stored it: `show` puts it on the screen, `element` is the part that shows it.
 */
export function useSecretOnce(
  name?: string,
  note?: string,
): {
  readonly show: (issued: IssuedSecret | undefined) => void;
  readonly element: JSX.Element | undefined;
} {
  const [issued, show] = useState<IssuedSecret | undefined>(undefined);
  const element = issued && (
    <SecretOnce {...issued} name={name} note={note} onDone={() => show(undefined)} />
  );
  return { show, element };
}

/** Asks before the screen is left, while the secret is not stored. */
function useLeaveGuard(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    guardLeaving(() => confirm('This secret is shown only once. Leave without storing it?'));
    return () => {
      removeEventListener('beforeunload', ask);
      guardLeaving(undefined);
    };
  }, [isOn]);
}

/**
 * A secret that the server shows once. It is in this component's properties and nowhere else, and is gone when the
 * person says that it is stored, or leaves.
 */
function SecretOnce(props: {
  readonly clientId?: string | undefined;
  readonly secret: string;
  readonly name?: string | undefined;
  /** What else is to be known about it. */
  readonly note?: string | undefined;
  readonly onDone: () => void;
}): JSX.Element {
  const { clientId, secret, name = 'CONVOKE_CLIENT_SECRET' } = props;
  const [isShown, setShown] = useState(false);
  const [isStored, setStored] = useState(false);
  useLeaveGuard(!isStored);
  const lines = environmentOf({
    ...(clientId === undefined ? {} : { CONVOKE_CLIENT_ID: clientId }),
    [name]: secret,
  });
  return (
    <section class="secret" aria-label="New secret, shown once">
      <h2>New secret (shown once)</h2>
      <dl class="facts">
        {clientId !== undefined && (
          <>
            <dt>Client ID</dt>
            <dd>
              <code>{clientId}</code>
            </dd>
          </>
        )}
        <dt>Secret</dt>
        <dd>
          <code>{isShown ? secret : `${secret.slice(0, 4)}${'•'.repeat(16)}`}</code>
        </dd>
      </dl>
      <div class="buttons">
        <Button size="small" onClick={() => setShown(!isShown)} pressed={isShown}>
          {isShown ? 'Hide' : 'Show'}
        </Button>
        <Button size="small" onClick={() => copyText(secret, 'Secret copied')}>
          Copy
        </Button>
        <Button size="small" onClick={() => copyText(lines, 'Lines for .env copied')}>
          Copy for .env
        </Button>
      </div>
      {props.note !== undefined && <p class="muted">{props.note}</p>}
      <div class="buttons">
        <label class="check">
          <input
            type="checkbox"
            checked={isStored}
            onChange={(event) => setStored(event.currentTarget.checked)}
          />
          I have stored it
        </label>
        <span class="grow" />
        <Button kind="primary" onClick={props.onDone} disabled={!isStored}>
          Done
        </Button>
      </div>
    </section>
  );
}
