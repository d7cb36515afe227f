import type { RuleDocumentRecord, RuleRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RouteParams } from '../../data/routes.ts';
import { ruleText } from '../../data/rules/rule-text.ts';
import { Button } from '../../parts/button.tsx';
import { Await, Heading } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { personName } from '../../session/session.ts';
import { organizationClient } from '../../session/tenant-clients.ts';
import { useResource, useTitle } from '../../session/use.ts';
import { RulesEditor } from './rules-editor.tsx';

/** What happens with tool calls in the whole organization: each rule as a sentence, and the editor. */
export function RulesScreen({ org = '' }: RouteParams): JSX.Element {
  useTitle('Rules');
  const { rules } = organizationClient(org);
  const document = useResource(`${org}/rules`, (signal) => rules.get({ signal }));
  const [isEdited, setEdited] = useState(false);
  const actions = useButtonAfter(isEdited);
  return (
    <Await resource={document} title="Rules">
      {(read) => (
        <>
          <Heading
            title="Rules"
            actions={
              !isEdited && (
                <span ref={actions}>
                  <Button kind="primary" onClick={() => setEdited(true)}>
                    Edit
                  </Button>
                </span>
              )
            }
          >
            <p class="muted">
              The first rule that matches a tool call decides about it. An agent’s own rules hold as
              well: the stricter of both counts. <Changed document={read} />
            </p>
          </Heading>
          {isEdited ? (
            <RulesEditor
              org={org}
              document={read}
              onSaved={(saved) => {
                document.set(saved);
                setEdited(false);
              }}
              onChanged={document.set.bind(document)}
              onClose={() => setEdited(false)}
            />
          ) : (
            <RuleList document={read} />
          )}
        </>
      )}
    </Await>
  );
}

/** Gives the focus to the button in the frame once the editor is closed: the one that had it is gone. */
function useButtonAfter(isEdited: boolean) {
  const frame = useRef<HTMLSpanElement>(null);
  const wasEdited = useRef(false);
  useLayoutEffect(() => {
    if (wasEdited.current && !isEdited) frame.current?.querySelector('button')?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  return frame;
}

function Changed({ document }: { readonly document: RuleDocumentRecord }): JSX.Element | null {
  const { version, updated_at: at, updated_by: by, updated_by_name: name } = document;
  if (at === undefined || by === undefined) return null;
  return (
    <>
      {`Version ${version}, changed by ${name ?? personName(by)} `}
      <Time at={at} />.
    </>
  );
}

function RuleList({ document }: { readonly document: RuleDocumentRecord }): JSX.Element {
  const { rules, warnings } = document;
  if (rules.length === 0) {
    return (
      <Empty title="No rules yet.">
        <span>Every tool call is allowed, unless the agent’s own rules say something else.</span>
      </Empty>
    );
  }
  return (
    <ol class="card list rules" aria-label="Rules">
      {rules.map((rule) => (
        <li key={rule.name} class="list-row">
          <RuleRow
            rule={rule}
            warnings={warnings.filter((warning) => warning.rule === rule.name)}
          />
        </li>
      ))}
    </ol>
  );
}

function RuleRow(props: {
  readonly rule: RuleRecord;
  readonly warnings: RuleDocumentRecord['warnings'];
}): JSX.Element {
  const { rule, warnings } = props;
  return (
    <div class="stack tight grow">
      <strong>{rule.name}</strong>
      <span class="breaks">{ruleText(rule)}</span>
      {rule.reason !== undefined && <span class="muted small">{rule.reason}</span>}
      {warnings.map(({ code, message }) => (
        <span key={`${code} ${message}`} class="waiting small" data-warning={code}>
          {`▲ ${message}`}
        </span>
      ))}
    </div>
  );
}
