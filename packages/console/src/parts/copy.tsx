import type { JSX } from 'preact';
import { Button } from './button.tsx';
import { announce } from './toast.tsx';
import { Icon } from './icon.tsx';

export async function copyText(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(what);
  } catch {
    announce('The browser blocked copying.');
  }
}

export function CopyButton(props: { readonly text: string; readonly label: string }): JSX.Element {
  const { text, label } = props;
  return (
    <Button
      size="small"
      kind="quiet"
      onClick={() => copyText(text)}
      ariaLabel={label}
      title={label}
    >
      <Icon name="Copy" />
    </Button>
  );
}

/** Text as it is, with a copy button. */
export function CodeBlock(props: { readonly text: string; readonly label: string }): JSX.Element {
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={props.label}>
        {props.text}
      </pre>
      <CopyButton text={props.text} label={`Copy ${props.label}`} />
    </div>
  );
}

/** Gives text to the person as a file; nothing leaves the page. */
export function download(name: string, content: string | Blob): void {
  const blob = typeof content === 'string' ? new Blob([content]) : content;
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
