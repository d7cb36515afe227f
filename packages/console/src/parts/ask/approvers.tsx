import type { JSX } from 'preact';
import type { Ask } from '../../data/ask.ts';
import { whoMayAllow } from '../../data/rules/approvers.ts';
import { isSelf, personName } from '../../session/session.ts';
import { Time } from '../time.tsx';

/** Why a person is asked: what the authors of the rules say, and the names of the rules. */
export function AskReasons({ ask: { rules = [] } }: { readonly ask: Ask }): JSX.Element | null {
  const told = rules.filter(({ name }) => name !== 'approval_required_tools');
  if (told.length === 0) return null;
  return (
    <ul class="reasons">
      {told.map(({ source, name, reason }) => (
        <li key={`${source} ${name}`}>
          {reason !== undefined && <span>{reason} </span>}
          <span class="muted small">
            {`Rule `}
            <code>{name}</code>
            {source === 'organization' ? ' of the organization' : ' of the agent'}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Who has allowed the call already, where several people have to. */
export function Approvals({
  ask: { approvals = [], approvers },
}: {
  readonly ask: Ask;
}): JSX.Element | null {
  if (approvers === undefined || approvers.people < 2) return null;
  return (
    <p class="small" data-approvals>
      {`${approvals.length} of ${approvers.people} people have allowed it`}
      {approvals.map(({ by, by_name: name, at }, index) => (
        <span key={by}>
          {index === 0 ? ': ' : ', '}
          <span title={by}>{name ?? personName(by)}</span>
          {', '}
          <Time at={at} />
        </span>
      ))}
    </p>
  );
}

/** Instead of the button that allows, for a person who may not, or has already allowed it. */
export function NeedsOthers({ ask }: { readonly ask: Ask }): JSX.Element {
  const hasAllowed = (ask.approvals ?? []).some(({ by }) => isSelf({ user_id: by }));
  const needs = hasAllowed ? 'You allowed it. Waits for another person: needs' : 'Needs';
  return <span class="muted small needs-others">{`${needs} ${whoMayAllow(ask)}`}</span>;
}
