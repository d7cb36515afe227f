import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inBackground } from '../data/in-background.ts';
import { roleMeanings } from '../data/roles.ts';
import { consoleRoot } from '../data/routes.ts';
import { Button } from '../parts/button.tsx';
import { useAction } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Await } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { forgetInvitation, invitationSecret } from '../session/invitation-link.ts';
import { type Offer, readInvitation, signInWith, signUp } from '../session/invitations.ts';
import { leaveForSignIn, signOut } from '../session/session-flow.ts';
import { session } from '../session/session.ts';
import { hasAccountPage } from '../session/sign-in.ts';
import { accountClient } from '../session/tenant-clients.ts';
import { useResource, useTitle } from '../session/use.ts';

/** The page of an invitation link: a person joins with their account, or with a new one. */
export function JoinScreen(): JSX.Element {
  const secret = invitationSecret();
  useTitle('Invitation');
  if (secret === undefined) {
    return (
      <>
        <h1>Invitation</h1>
        <p>Open your invitation link again.</p>
      </>
    );
  }
  return <Invited secret={secret} />;
}

function Invited({ secret }: { readonly secret: string }): JSX.Element {
  const offer = useResource('invitation', () => readInvitation(secret));
  const state = session.value;
  return (
    <Await resource={offer} title="Invitation">
      {(offered) => (
        <>
          <h1>Join {offered.organization_name}</h1>
          <p>
            You’re invited as <strong>{offered.role}</strong>:{' '}
            {(roleMeanings[offered.role] ?? '').toLowerCase()}.
          </p>
          {state.kind === 'in' ? (
            <JoinSignedIn secret={secret} email={state.me.email ?? state.me.user_id} />
          ) : (
            <JoinSignedOut secret={secret} offer={offered} />
          )}
        </>
      )}
    </Await>
  );
}

function JoinSignedIn(props: { readonly secret: string; readonly email: string }): JSX.Element {
  const { isBusy, error, run } = useAction(async () => {
    await accountClient().acceptInvitation(props.secret);
    forgetInvitation();
    // Reloads the whole page, which then reads the person's organizations again.
    location.assign(`${consoleRoot}/`);
  });
  return (
    <>
      <p class="muted">
        You’re signed in as <strong>{props.email}</strong>.
      </p>
      {error !== undefined && <ProblemNote error={error} />}
      <div class="buttons">
        <Button kind="primary" onClick={run} disabled={isBusy} autofocus>
          Join
        </Button>
        <Button onClick={signOut}>Sign out</Button>
      </div>
    </>
  );
}

interface JoinProps {
  readonly secret: string;
  readonly offer: Offer;
}

function JoinSignedOut(props: JoinProps): JSX.Element {
  if (hasAccountPage) return <NewAccount {...props} />;
  return (
    <div class="buttons">
      <Button kind="primary" onClick={leaveForSignIn} autofocus>
        Sign in to join
      </Button>
    </div>
  );
}

const passwordMinCharacters = 12;

/** Ends on Home, signed in; on the sign-in page where that fails. */
async function createAccount(account: Parameters<typeof signUp>[0]): Promise<void> {
  const { ticket } = await signUp(account);
  forgetInvitation();
  await signInWith(ticket).catch(() => {});
  location.assign(`${consoleRoot}/`);
}

function NewAccount({ secret, offer }: JoinProps): JSX.Element {
  const [name, setName] = useState('');
  const [email, setEmail] = useState(offer.email ?? '');
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const isShort = Array.from(password).length < passwordMinCharacters;
  const isReady = email.trim() !== '' && !isShort && password === repeated;
  const { isBusy, error, run } = useAction(() =>
    createAccount({ secret, email: email.trim(), password, name: name.trim() || undefined }),
  );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) inBackground(run());
      }}
    >
      <TextField
        label="Name (optional)"
        account="name"
        value={name}
        onInput={setName}
        max={100}
        hint="Others see it next to your decisions. Without one, they see your email."
      />
      <TextField
        label="Email"
        account="email"
        value={email}
        onInput={setEmail}
        isFixed={offer.email !== undefined}
        required
      />
      <TextField
        label="Password"
        account="new-password"
        value={password}
        onInput={setPassword}
        required
        hint={`At least ${passwordMinCharacters} characters.`}
      />
      <TextField
        label="Confirm password"
        account="new-password"
        value={repeated}
        onInput={setRepeated}
        required
        wrong={
          repeated.length >= password.length && repeated !== password
            ? 'Passwords don’t match.'
            : undefined
        }
      />
      {error !== undefined && <ProblemNote error={error} />}
      <div class="buttons">
        <Button kind="primary" type="submit" disabled={isBusy || !isReady}>
          Create account
        </Button>
        <Button onClick={leaveForSignIn}>I have an account</Button>
      </div>
    </form>
  );
}
