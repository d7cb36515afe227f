import type { JSX } from 'preact';
import { Button } from '../parts/button.tsx';
import { SelectField } from '../parts/field.tsx';
import { Card, Heading, Shown } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { getSystem } from '../session/api.ts';
import { session, signOut } from '../session/session.ts';
import { useResource, useTitle } from '../session/use.ts';
import { shortcutList } from '../shell/shortcut-list.tsx';
import { type Density, type Theme, settings } from '../shell/settings.ts';

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
          <a class="button quiet" href="/oidc/account">
            Password and other sign-ins
          </a>
        </div>
      </div>
    </Card>
  );
}

function Look(): JSX.Element {
  return (
    <Card title="This browser">
      <div class="body stack">
        <SelectField
          label="Theme"
          value={settings.theme.value}
          choices={[
            { value: 'system', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          onChange={(value) => {
            settings.theme.value = value as Theme;
          }}
        />
        <SelectField
          label="Rows"
          value={settings.density.value}
          choices={[
            { value: 'comfortable', label: 'Comfortable' },
            { value: 'compact', label: 'Compact' },
          ]}
          onChange={(value) => {
            settings.density.value = value as Density;
          }}
        />
        <SelectField
          label="Exact times"
          value={settings.timeZone.value}
          choices={[
            { value: 'local', label: 'In the zone of this computer' },
            { value: 'utc', label: 'In UTC' },
          ]}
          onChange={(value) => {
            settings.timeZone.value = value === 'utc' ? 'utc' : 'local';
          }}
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

function Server(): JSX.Element {
  const system = useResource('system', () => getSystem());
  return (
    <Card title="Server" aside={<a href="/docs">API reference</a>}>
      <div class="body">
        <Shown of={system}>
          {({ version, started_at: startedAt, frameworks, file_attachments_enabled: files }) => (
            <dl class="facts">
              <dt>Version</dt>
              <dd>{version}</dd>
              <dt>Started</dt>
              <dd>
                <Time at={startedAt} />
              </dd>
              <dt>Files</dt>
              <dd>{files ? 'on' : 'off'}</dd>
              {frameworks.map(({ name, ready, reason }) => (
                <>
                  <dt>{name}</dt>
                  <dd>
                    {ready ? (
                      <Status of="ready" />
                    ) : (
                      <Status of="failed" words={reason ?? 'not ready'} />
                    )}
                  </dd>
                </>
              ))}
            </dl>
          )}
        </Shown>
      </div>
    </Card>
  );
}
