import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { inBackground } from '../data/in-background.ts';
import { type RouteParams, addressOf } from '../data/routes.ts';
import { place, setQuery } from '../page/router.ts';
import { Button } from '../parts/button.tsx';
import { useAction } from '../parts/dialog.tsx';
import { Await, Heading } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { session } from '../session/session.ts';
import { useResource, useTenant, useTitle } from '../session/use.ts';

/**
 * Connects the account of this person that a run in their session waits for (D-606, D-607). The service sends the
 * browser back to this page with a ticket, which works for the person of the session only.
 */
export function ConnectAccountScreen({ session: id = '', service = '' }: RouteParams): JSX.Element {
  const { client, tenantId } = useTenant();
  const handle = client.sessions.at(id);
  const returned = useReturned();
  useTitle(`Connect ${service}`);
  const found = useResource(`${tenantId}/connecting/${id}/${service}`, async () => {
    const [{ end_user: endUser }, all] = await Promise.all([
      handle.read(),
      handle.connections.list(),
    ]);
    return { endUser, account: all.find((one) => one.service === service) };
  });
  const begin = useAction(async () => {
    const return_url = `${location.origin}${location.pathname}`;
    const { connect_url } = await handle.connections.begin(service, { return_url });
    location.assign(connect_url);
  });
  const finish = useAction(async (ticket: string) => {
    await handle.connections.put(service, { ticket });
    await found.refresh();
  });
  useEffect(() => {
    if (returned.ticket !== null) inBackground(finish.run(returned.ticket));
  }, []);
  const state = session.value;
  const me = state.kind === 'in' ? state.me.user_id : undefined;
  return (
    <>
      <Heading title={`Connect ${service}`}>
        <p class="muted">
          An agent asks for your account, for{' '}
          <a href={addressOf('session', { tenant: tenantId, session: id })}>your session</a>.
        </p>
      </Heading>
      <Await resource={found}>
        {({ endUser, account }) => (
          <div class="stack" role="status">
            {account !== undefined && <Status of={account.status} />}
            {account?.status === 'connected' && (
              <p>Runs that wait for {service} continue automatically. You can close this page.</p>
            )}
            {returned.error !== null && <p>{errorWords(returned.error)}</p>}
            {[begin.error, finish.error].map(
              (error) => error !== undefined && <ProblemNote error={error} />,
            )}
            {endUser === me ? (
              <div class="buttons">
                <Button kind="primary" onClick={begin.run} disabled={begin.isBusy || finish.isBusy}>
                  {account?.status === 'connected'
                    ? 'Connect another account'
                    : `Connect ${service}`}
                </Button>
              </div>
            ) : (
              <p>This session is for another person. Only that person connects its accounts.</p>
            )}
          </div>
        )}
      </Await>
    </>
  );
}

/** What the service has sent the browser back with. It leaves the address, so that reloading does not send it again. */
function useReturned(): { readonly ticket: string | null; readonly error: string | null } {
  const [returned] = useState(() => {
    const { query } = place.peek();
    return { ticket: query.get('ticket'), error: query.get('error') };
  });
  useEffect(() => setQuery({ ticket: undefined, error: undefined, service: undefined }), []);
  return returned;
}

function errorWords(error: string): string {
  return error === 'access_denied'
    ? 'You declined at the service. Nothing was connected.'
    : 'The service gave no access. Nothing was connected.';
}
