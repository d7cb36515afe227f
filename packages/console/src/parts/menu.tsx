import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useShortcuts } from '../page/shortcuts.ts';
import { Button, type ButtonProps } from './button.tsx';

const menuItems = '[data-menu] :is(button, a)';

interface MenuButtonProps extends Pick<ButtonProps, 'ariaLabel' | 'kind' | 'size' | 'disabled'> {
  readonly label: ComponentChildren;
  readonly at?: 'start' | 'end' | undefined;
  /** The key that opens it. */
  readonly hotkey?: string | undefined;
  /** Called whenever the list opens, such as to read what it shows again. */
  readonly onOpen?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/** A button that opens a list of actions; closes on Escape, on a choice and when the focus leaves. */
export function MenuButton(props: MenuButtonProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  useShortcuts({
    ...(props.hotkey === undefined ? {} : { [props.hotkey]: () => setOpen(true) }),
    ...(isOpen ? { Escape: () => close() } : {}),
  });
  useEffect(() => {
    if (!isOpen) return;
    props.onOpen?.();
    frame.current?.querySelector<HTMLElement>(menuItems)?.focus();
    const leave = (event: PointerEvent) => {
      if (!frame.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', leave);
    return () => document.removeEventListener('pointerdown', leave);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    frame.current?.querySelector('button')?.focus();
  };
  return (
    <div
      class="menu"
      ref={frame}
      onKeyDown={(event) => {
        if (!isOpen) return;
        if (event.key === 'Escape') {
          event.stopPropagation();
          close();
        }
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
          event.preventDefault();
          moveFocus(frame.current, event.key === 'ArrowDown' ? 1 : -1);
        }
      }}
      onFocusOut={(event) => {
        const next = event.relatedTarget;
        if (next instanceof Node && !frame.current?.contains(next)) setOpen(false);
      }}
    >
      <Button
        onClick={() => setOpen(!isOpen)}
        kind={props.kind}
        size={props.size}
        disabled={props.disabled}
        ariaLabel={props.ariaLabel}
        expanded={isOpen}
      >
        {props.label}
      </Button>
      {isOpen && (
        <div data-menu class={`menu-list ${props.at ?? ''}`} onClick={close}>
          {props.children}
        </div>
      )}
    </div>
  );
}

function moveFocus(frame: HTMLElement | null, step: number): void {
  const items = [...(frame?.querySelectorAll<HTMLElement>(menuItems) ?? [])];
  const at = items.findIndex((item) => item === document.activeElement);
  items[(at + step + items.length) % items.length]?.focus();
}
