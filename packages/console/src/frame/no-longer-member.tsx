import type { JSX } from 'preact';
import { Empty } from '../parts/states.tsx';

/**
 * In place of a screen of an organization that the person was removed from while it was open. It appears without being
 * asked for, so it is read out, as every error is.
 */
export function NoLongerMember({ name }: { readonly name: string }): JSX.Element {
  return (
    <div role="alert">
      <Empty isScreen title={`You’re no longer a member of ${name}.`}>
        <p>
          An owner or admin has removed you. If you need access again, ask them for an invitation.
        </p>
        <a href="/console/">Check again</a>
      </Empty>
    </div>
  );
}
