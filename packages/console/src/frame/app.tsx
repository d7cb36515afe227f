import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Brand } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Skeleton } from '../parts/states.tsx';
import { Toasts } from '../parts/toast.tsx';
import { addressOf } from '../data/routes.ts';
import { leftOrganizations } from '../session/access.ts';
import { hasEnded, session } from '../session/session.ts';
import { enter, leaveForSignIn, leaveSignedOut, signInAgain } from '../session/session-flow.ts';
import { Frame } from './frame.tsx';
import { NoLongerMember } from './no-longer-member.tsx';
import { screenOf } from './screens.ts';
import { navigate, place } from '../page/router.ts';

/** The page by the state of the session: nothing of an organization is drawn before the person is known. */
export function App(): JSX.Element {
  return (
    <>
      <SessionPage />
      {hasEnded.value && <SignInAgain />}
      <Toasts />
    </>
  );
}

function SessionPage(): JSX.Element {
  const state = session.value;
  const isKnown = state.kind === 'in' || state.kind === 'signed-out';
  if (place.value.screen === 'join' && isKnown) return <Joining />;
  switch (state.kind) {
    case 'starting':
    case 'leaving':
      return (
        <CenteredMessage>
          <p class="muted" role="status">
            {state.kind === 'starting' ? 'Signing in…' : 'Redirecting to sign-in…'}
          </p>
        </CenteredMessage>
      );
    case 'insecure':
      return (
        <CenteredMessage>
          <h1>The console needs HTTPS</h1>
          <p>
            Except on localhost, the console requires HTTPS. Open its https address, or{' '}
            <code>http://localhost</code> on the server itself.
          </p>
        </CenteredMessage>
      );
    case 'signed-out':
      return (
        <CenteredMessage>
          <h1>Signed out</h1>
          <p>You’re signed out. Nothing is kept on this page.</p>
          <Button kind="primary" onClick={leaveForSignIn}>
            Sign in
          </Button>
        </CenteredMessage>
      );
    case 'done-here':
      return (
        <CenteredMessage>
          <h1>Signed in</h1>
          <p>Close this tab and continue in the one you came from.</p>
        </CenteredMessage>
      );
    case 'failed':
      return (
        <CenteredMessage>
          <h1>Convoke</h1>
          <ProblemNote error={state.error} retry={() => enter()} />
        </CenteredMessage>
      );
    case 'in':
      return <SignedIn />;
  }
}

/** The page of an invitation is for people without an account, too: nothing stands around it. */
function Joining(): JSX.Element {
  const Screen = screenOf('join');
  return (
    <CenteredMessage>
      <div class="card join">
        <p class="brand">
          <Brand />
          Convoke
        </p>
        {typeof Screen === 'function' ? <Screen /> : <Skeleton />}
      </div>
    </CenteredMessage>
  );
}

/**
 * Covers the page, so that nothing of the organization is seen, and keeps it underneath, with everything that was
 * typed.
 */
function SignInAgain(): JSX.Element {
  const [error, setError] = useState<unknown>(undefined);
  const [isWaiting, setWaiting] = useState(false);
  // A person who has closed the other tab presses the button once more.
  const ask = async () => {
    setError(undefined);
    setWaiting(true);
    try {
      await signInAgain();
    } catch (problem) {
      setError(problem);
      setWaiting(false);
    }
  };
  return (
    <Dialog title="Your sign-in has ended" class="covering" isFixed onClose={() => {}}>
      <p>Sign in again in another tab. This page keeps what you typed and continues.</p>
      {error !== undefined && <ProblemNote error={error} />}
      {isWaiting && (
        <p class="muted" role="status">
          Waiting for the other tab…
        </p>
      )}
      <div class="buttons end">
        <Button onClick={leaveSignedOut}>Close this page</Button>
        <Button kind="primary" onClick={ask} autofocus>
          Sign in
        </Button>
      </div>
    </Dialog>
  );
}

function SignedIn(): JSX.Element {
  const state = session.value;
  const { screen } = place.value;
  const first = state.kind === 'in' ? state.workspaces[0] : undefined;
  const organization = state.kind === 'in' ? state.me.memberships[0] : undefined;
  useEffect(() => {
    if (screen !== 'start' && screen !== 'callback') return;
    if (first !== undefined) {
      navigate(addressOf('home', { tenant: first.tenant.tenant_id }), { replace: true });
    } else if (organization !== undefined) {
      const params = { org: organization.organization_id };
      navigate(addressOf('tenants', params), { replace: true });
    }
  }, [screen, first]);
  if (first === undefined && organization === undefined) {
    const [left] = leftOrganizations.value;
    if (left !== undefined) {
      return (
        <CenteredMessage>
          <NoLongerMember name={left.name} />
        </CenteredMessage>
      );
    }
    return (
      <CenteredMessage>
        <h1>No organization</h1>
        <p>
          You’re signed in, but you don’t belong to an organization yet. Ask an owner for an
          invitation.
        </p>
        <Button onClick={() => enter()}>Check again</Button>
      </CenteredMessage>
    );
  }
  return <Frame />;
}

/** One message on an otherwise empty page. */
function CenteredMessage({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <main class="page-alone">
      <div>{children}</div>
    </main>
  );
}
