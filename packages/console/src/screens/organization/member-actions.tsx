import type { MemberRecord, MemberRole } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { memberRoles, roleMeanings } from '../../data/roles.ts';
import { Confirm, FormDialog } from '../../parts/dialog.tsx';
import { SelectField } from '../../parts/field.tsx';
import { MenuButton } from '../../parts/menu.tsx';
import { isOwner, isSelf, nameOfPerson } from '../../session/session.ts';
import { organizationClient } from '../../session/tenant-clients.ts';

export type MemberAction = 'role' | 'sign-out' | 'remove';

/** The actions of a manager in a member's row. An admin does nothing with an owner. */
export function MemberMenu(props: {
  readonly org: string;
  readonly member: MemberRecord;
  readonly onChoose: (action: MemberAction) => void;
}): JSX.Element | null {
  const { org, member, onChoose } = props;
  if (member.role === 'owner' && !isOwner(org)) return null;
  return (
    <MenuButton
      label="Manage"
      ariaLabel={`Manage ${nameOfPerson(member)}`}
      kind="quiet"
      size="small"
      at="end"
    >
      <button type="button" onClick={() => onChoose('role')}>
        Change role
      </button>
      <button type="button" onClick={() => onChoose('sign-out')}>
        Sign out everywhere
      </button>
      <button type="button" onClick={() => onChoose('remove')}>
        Remove
      </button>
    </MenuButton>
  );
}

interface DialogProps {
  readonly org: string;
  readonly member: MemberRecord;
  /** Called when the server has changed the member. */
  readonly onChanged: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before it happens, and shows why it was refused. */
export function MemberDialog(props: DialogProps & { readonly action: MemberAction }): JSX.Element {
  const { org, member, onChanged, onClose } = props;
  const name = nameOfPerson(member);
  const members = () => organizationClient(org).members;
  switch (props.action) {
    case 'role':
      return <RoleForm org={org} member={member} onChanged={onChanged} onClose={onClose} />;
    case 'sign-out':
      return (
        <Confirm
          title="Sign this person out everywhere?"
          action="Sign out"
          onConfirm={() => members().signOut(member.user_id)}
          onClose={onClose}
        >
          <p class="breaks">{name}</p>
          <p>Every browser and terminal of the person has to sign in again.</p>
        </Confirm>
      );
    case 'remove':
      return (
        <Confirm
          title="Remove this person?"
          action="Remove"
          onConfirm={async () => {
            await members().remove(member.user_id);
            await onChanged();
          }}
          onClose={onClose}
        >
          <p class="breaks">{name}</p>
          <p>
            The person has no access to this organization from the next request on. You can invite
            them again.
          </p>
        </Confirm>
      );
  }
}

function RoleForm(props: DialogProps): JSX.Element {
  const { org, member } = props;
  const [role, setRole] = useState<MemberRole>(member.role);
  const offered = memberRoles.filter((name) => name !== 'owner' || isOwner(org));
  return (
    <FormDialog
      title="Change role"
      action="Change role"
      isReady={role !== member.role}
      onSubmit={async () => {
        await organizationClient(org).members.update(member.user_id, { role });
        await props.onChanged();
      }}
      onClose={props.onClose}
    >
      <p class="breaks">{nameOfPerson(member)}</p>
      <SelectField
        label="Role"
        value={role}
        choices={offered.map((value) => ({ value, label: value }))}
        onChange={(value) => setRole(memberRoles.find((name) => name === value) ?? member.role)}
        hint={roleMeanings[role]}
      />
      {isSelf(member) && (
        <p class="muted">This is your own role: you may lose access to this page.</p>
      )}
    </FormDialog>
  );
}
