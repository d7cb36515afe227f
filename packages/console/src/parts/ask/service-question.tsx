import type { JSX } from 'preact';
import { Time } from '../time.tsx';

/** The run continues automatically once the account is connected, at the page of the product or of the console. */
export function MissingAccount(props: {
  readonly service?: string | undefined;
  readonly url?: string | undefined;
}): JSX.Element {
  const { service = 'The account', url = '' } = props;
  // The product that named its page is trusted; a link of another kind is shown as text.
  const isLink = /^https?:\/\//.test(url);
  return (
    <div class="stack tight">
      <p>
        The run waits for the <code>{service}</code> account of the session’s user, and continues
        automatically once it is connected.
      </p>
      {isLink ? (
        <p>
          <a href={url} rel="noopener noreferrer">
            Connect {service}
          </a>
        </p>
      ) : (
        <p class="breaks">{url}</p>
      )}
    </div>
  );
}

/** The files of the session are older than the run: these calls changed files that are lost. */
export function LostChanges(props: {
  readonly calls: readonly { readonly tool_name: string; readonly begun_at: string }[];
}): JSX.Element {
  return (
    <div class="stack tight">
      <p>The restored files do not include the changes of these calls:</p>
      <ul>
        {props.calls.map((call) => (
          <li key={`${call.tool_name}${call.begun_at}`}>
            <code>{call.tool_name}</code> <Time at={call.begun_at} />
          </li>
        ))}
      </ul>
    </div>
  );
}
