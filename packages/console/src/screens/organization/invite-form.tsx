import type { IssuedInvitation, MemberRole } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { memberRoles, roleMeanings } from '../../data/roles.ts';
import { Button } from '../../parts/button.tsx';
import { copyText } from '../../parts/copy.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { isOwner } from '../../session/session.ts';
import { organizationClient } from '../../session/tenant-clients.ts';

export function InviteForm(props: {
  readonly org: string;
  readonly onClose: () => void;
  readonly onIssued: (issued: IssuedInvitation) => void;
}): JSX.Element {
  const [role, setRole] = useState<MemberRole>('operator');
  const [email, setEmail] = useState('');
  const invite = async () => {
    const address = email.trim();
    const issued = await organizationClient(props.org).invitations.create({
      role,
      ...(address === '' ? {} : { email: address }),
    });
    props.onIssued(issued);
  };
  const offered = memberRoles.filter((name) => name !== 'owner' || isOwner(props.org));
  return (
    <FormDialog
      title="Invite a person"
      action="Create link"
      isReady
      onSubmit={invite}
      onClose={props.onClose}
    >
      <SelectField
        label="Role"
        value={role}
        choices={offered.map((value) => ({ value, label: value }))}
        onChange={(value) => setRole(memberRoles.find((name) => name === value) ?? 'viewer')}
        hint={roleMeanings[role]}
      />
      <TextField
        label="Email (optional)"
        value={email}
        onInput={setEmail}
        max={254}
        hint="If set, only this person can use the link."
      />
      <p class="muted small">The link works once, within 7 days. Send it to the person yourself.</p>
    </FormDialog>
  );
}

/** The link of a new invitation. It is in this component's properties and nowhere else. */
export function InvitationLink(props: {
  readonly link: string;
  readonly onDone: () => void;
}): JSX.Element {
  return (
    <section class="secret" aria-label="Invitation link, shown once">
      <h2>Invitation link (shown once)</h2>
      <code class="breaks">{props.link}</code>
      <p class="muted">Send it to the person. It works once, within 7 days.</p>
      <div class="buttons">
        <Button kind="primary" onClick={() => copyText(props.link, 'Link copied')}>
          Copy link
        </Button>
        <Button onClick={props.onDone}>Done</Button>
      </div>
    </section>
  );
}
