import type { Signal } from '@preact/signals';
import type { SystemRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { bytes, number, plural } from '../data/formats.ts';
import { Button } from '../parts/button.tsx';
import { SelectField } from '../parts/field.tsx';
import { Card, Heading, Shown } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { getSystem, isServerReady } from '../session/api.ts';
import { session, signOut } from '../session/session.ts';
import { hasAccountPage } from '../session/sign-in.ts';
import { useResource, useTitle } from '../session/use.ts';
import { shortcutList } from '../parts/shortcut-list.tsx';
import { settings } from '../page/settings.ts';

export function SettingsScreen(): JSX.Element {
  useTitle('Settings');
  return (
    <>
      <Heading title="Settings" />
      <div class="two">
        <div class="stack">
          <You />
          <Look />
        </div>
        <div class="stack">
          <Server />
          <Card title="Keys">
            <div class="body">{shortcutList()}</div>
          </Card>
        </div>
      </div>
    </>
  );
}

function You(): JSX.Element {
  const state = session.value;
  if (state.kind !== 'in') return <></>;
  const { email, user_id: id, memberships } = state.me;
  return (
    <Card title="You">
      <div class="body stack">
        <dl class="facts">
          <dt>Signed in as</dt>
          <dd>{email ?? id}</dd>
          {memberships.map((membership) => (
            <>
              <dt>{membership.organization_name}</dt>
              <dd>{membership.role}</dd>
            </>
          ))}
        </dl>
        <div class="buttons">
          <Button onClick={signOut}>Sign out</Button>
          {hasAccountPage && (
            <a class="button quiet" href="/oidc/account">
              Password and other sign-ins
            </a>
          )}
        </div>
      </div>
    </Card>
  );
}

function Look(): JSX.Element {
  return (
    <Card title="This browser">
      <div class="body stack">
        <Choice
          label="Theme"
          of={settings.theme}
          choices={[
            ['system', 'As the system'],
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
        />
        <Choice
          label="Rows"
          of={settings.density}
          choices={[
            ['comfortable', 'Comfortable'],
            ['compact', 'Compact'],
          ]}
        />
        <Choice
          label="Exact times"
          of={settings.timeZone}
          choices={[
            ['local', 'In the zone of this computer'],
            ['utc', 'In UTC'],
          ]}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={settings.hasShortcuts.value}
            onChange={(event) => {
              settings.hasShortcuts.value = event.currentTarget.checked;
            }}
          />
          Single keys are shortcuts
        </label>
      </div>
    </Card>
  );
}

/** One setting with its choices; a change is stored at once. */
function Choice<T extends string>(props: {
  readonly label: string;
  readonly of: Signal<T>;
  readonly choices: readonly (readonly [value: T, label: string])[];
}): JSX.Element {
  const { label, of, choices } = props;
  return (
    <SelectField
      label={label}
      value={of.value}
      choices={choices.map(([value, words]) => ({ value, label: words }))}
      onChange={(chosen) => {
        of.value = choices.find(([value]) => value === chosen)?.[0] ?? of.value;
      }}
    />
  );
}

function Server(): JSX.Element {
  const system = useResource('system', () => getSystem());
  const isReady = useResource('ready', () => isServerReady());
  return (
    <Card title="Server" aside={<a href="/docs">API reference</a>}>
      <div class="body">
        <Shown of={system}>
          {({
            version,
            started_at: startedAt,
            frameworks,
            limits,
            file_attachments_enabled: files,
          }) => (
            <dl class="facts">
              <dt>Version</dt>
              <dd>{version}</dd>
              <dt>Ready</dt>
              <dd>
                {isReady.data.value === undefined ? (
                  '–'
                ) : (
                  <Status
                    of={isReady.data.value ? 'ready' : 'failed'}
                    words={isReady.data.value ? 'takes requests' : 'starting or stopping'}
                  />
                )}
              </dd>
              <dt>Metrics</dt>
              <dd>
                <code>/metrics</code>, for programs on the machine of the server
              </dd>
              <dt>Started</dt>
              <dd>
                <Time at={startedAt} />
              </dd>
              <dt>Files</dt>
              <dd>{files ? `on, up to ${bytes(limits.file_bytes)} each` : 'off'}</dd>
              <dt>Calls</dt>
              <dd>
                {limits.calls_per_minute === 0
                  ? 'not limited'
                  : `${number(limits.calls_per_minute)} a minute for each client or person`}
              </dd>
              <dt>Queue</dt>
              <dd>{`${plural(limits.queued_runs_per_session, 'run')} a session`}</dd>
              <dt>At most</dt>
              <dd>
                {`${plural(limits.tenants_per_organization, 'tenant')} and ${plural(limits.clients_per_organization, 'client')} in an organization`}
              </dd>
              {frameworks.map((framework) => (
                <Framework key={framework.name} of={framework} />
              ))}
            </dl>
          )}
        </Shown>
      </div>
    </Card>
  );
}

function Framework({
  of: { name, ready, reason },
}: {
  of: SystemRecord['frameworks'][number];
}): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {ready ? <Status of="ready" /> : <Status of="failed" words="not ready" />}
        {reason === undefined ? null : ` ${reason}`}
      </dd>
    </>
  );
}
