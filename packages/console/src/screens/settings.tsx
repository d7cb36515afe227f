import type { Signal } from '@preact/signals';
import type { SystemRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { bytes, number, plural } from '../data/formats.ts';
import { inBackground } from '../data/in-background.ts';
import { Button } from '../parts/button.tsx';
import { SelectField } from '../parts/field.tsx';
import { Card, Heading, Await } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { getSystem, isServerReady } from '../session/api.ts';
import { nameOfPerson, session } from '../session/session.ts';
import { signOut } from '../session/session-flow.ts';
import { hasAccountPage } from '../session/sign-in.ts';
import { useResource, useTitle } from '../session/use.ts';
import { shortcutList } from '../parts/shortcut-list.tsx';
import { canNotify, chooseNotifications } from '../page/notifications.ts';
import { settings } from '../page/settings.ts';

export function SettingsScreen(): JSX.Element {
  useTitle('Settings');
  return (
    <>
      <Heading title="Settings" />
      <div class="columns">
        <div class="stack">
          <You />
          <Look />
        </div>
        <div class="stack">
          <Server />
          <Card title="Keyboard shortcuts">
            <div class="card-body">{shortcutList()}</div>
          </Card>
        </div>
      </div>
    </>
  );
}

function You(): JSX.Element {
  const state = session.value;
  if (state.kind !== 'in') return <></>;
  const { name, email, memberships } = state.me;
  return (
    <Card title="You">
      <div class="card-body stack">
        <dl class="facts">
          <dt>Signed in as</dt>
          <dd>
            {nameOfPerson(state.me)}
            {name !== undefined && email !== undefined && <span class="muted">{` ${email}`}</span>}
          </dd>
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
              Name, password and sign-ins
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
      <div class="card-body stack">
        <Choice
          label="Theme"
          of={settings.theme}
          choices={[
            ['system', 'System'],
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
        />
        <Choice
          label="Density"
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
            ['local', 'Local time'],
            ['utc', 'UTC'],
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
          Enable single-key shortcuts
        </label>
        {canNotify() && <Notify />}
      </div>
    </Card>
  );
}

/** Asks the browser when it is turned on, never before. */
function Notify(): JSX.Element {
  const [isBlocked, setBlocked] = useState(false);
  const isOn = settings.hasNotifications;
  const choose = async (isWanted: boolean) => setBlocked(!(await chooseNotifications(isWanted)));
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          checked={isOn.value}
          onChange={(event) => {
            const { checked } = event.currentTarget;
            // Stays as it was until the browser has allowed it.
            event.currentTarget.checked = isOn.value;
            inBackground(choose(checked));
          }}
        />
        Notify me of new requests
      </label>
      {isBlocked && (
        <p class="wrong" role="alert">
          This browser blocks notifications from this site. Allow them in its site settings.
        </p>
      )}
    </div>
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
      choices={choices.map(([value, name]) => ({ value, label: name }))}
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
    <Card title="Server" aside={<a href="/docs">Docs</a>}>
      <div class="card-body">
        <Await resource={system}>
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
                    label={isReady.data.value ? 'Healthy' : 'Starting or stopping'}
                  />
                )}
              </dd>
              <dt>Metrics</dt>
              <dd>
                <code>/metrics</code>, from the server itself only
              </dd>
              <dt>Started</dt>
              <dd>
                <Time at={startedAt} />
              </dd>
              <dt>Files</dt>
              <dd>{files ? `on, up to ${bytes(limits.file_bytes)} each` : 'off'}</dd>
              <dt>Rate limit</dt>
              <dd>
                {limits.calls_per_minute === 0
                  ? 'none'
                  : `${number(limits.calls_per_minute)} requests a minute per client or person`}
              </dd>
              <dt>Queue</dt>
              <dd>{`up to ${plural(limits.queued_runs_per_session, 'run')} per session`}</dd>
              <dt>Limits</dt>
              <dd>
                {`${plural(limits.tenants_per_organization, 'tenant')} and ${plural(limits.clients_per_organization, 'client')} per organization`}
              </dd>
              {frameworks.map((framework) => (
                <Framework key={framework.name} of={framework} />
              ))}
            </dl>
          )}
        </Await>
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
        {ready ? <Status of="ready" /> : <Status of="failed" label="not ready" />}
        {reason !== undefined && <p class="muted small">{reason}</p>}
      </dd>
    </>
  );
}
