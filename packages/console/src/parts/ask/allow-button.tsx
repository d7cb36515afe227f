import type { JSX } from 'preact';
import { type Ask, rememberedText } from '../../data/ask.ts';
import { Button } from '../button.tsx';
import { Icon } from '../icon.tsx';
import { MenuButton } from '../menu.tsx';

/** Allows once; beside it, where a rule permits it, a menu that also allows what comes later in the session. */
export function AllowButton(props: {
  readonly ask: Ask;
  readonly isChanged: boolean;
  readonly unseen: string | undefined;
  readonly canPress: boolean;
  readonly onAllow: (remember?: Ask['canRemember']) => void;
}): JSX.Element {
  const { isChanged, unseen, canPress, onAllow } = props;
  const { canRemember, toolName = 'tool' } = props.ask;
  const once = (
    <Button kind="primary" onClick={() => onAllow()} disabled={!canPress}>
      {isChanged ? 'Allow with changes' : 'Allow'}
      {unseen !== undefined && <span class="unseen">{unseen}</span>} <kbd>a</kbd>
    </Button>
  );
  if (canRemember === undefined) return once;
  const widths = canRemember === 'tool' ? (['exact', 'tool'] as const) : (['exact'] as const);
  return (
    <span class="allow">
      {once}
      <MenuButton
        kind="primary"
        ariaLabel="More ways to allow"
        disabled={!canPress}
        label={
          <>
            <Icon name="ChevronDown" /> <kbd>m</kbd>
          </>
        }
      >
        <button type="button" onClick={() => onAllow()}>
          Once
        </button>
        {widths.map((width) => (
          <button key={width} type="button" onClick={() => onAllow(width)}>
            {sentence(rememberedText(width, toolName))}
          </button>
        ))}
      </MenuButton>
    </span>
  );
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
