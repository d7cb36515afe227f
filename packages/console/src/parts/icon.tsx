import type { JSX } from 'preact';
import { h } from 'preact';
import {
  BookOpen,
  Bot,
  CalendarClock,
  ChartColumn,
  ChevronDown,
  Copy,
  Download,
  House,
  Inbox,
  KeyRound,
  Layers,
  Menu,
  MessagesSquare,
  Paperclip,
  Play,
  Plug,
  ScrollText,
  Search,
  Settings,
  ShieldCheck,
  ThumbsDown,
  ThumbsUp,
  Users,
  Wallet,
  Webhook,
  X,
} from 'lucide';

const icons = {
  BookOpen,
  Bot,
  CalendarClock,
  ChartColumn,
  ChevronDown,
  Copy,
  Download,
  House,
  Inbox,
  KeyRound,
  Layers,
  Menu,
  MessagesSquare,
  Paperclip,
  Play,
  Plug,
  ScrollText,
  Search,
  Settings,
  ShieldCheck,
  ThumbsDown,
  ThumbsUp,
  Users,
  Wallet,
  Webhook,
  X,
};

export type IconName = keyof typeof icons;

/** Always beside a text, or inside a control with a label: it is hidden from readers of the screen. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon-mark" viewBox="0 0 24 24" aria-hidden="true">
      {icons[name].map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}

/** The mark of the product. */
export function Brand(): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#1d4ed8" />
      <path
        d="M21.5 11.2a7.5 7.5 0 1 0 0 9.6"
        fill="none"
        stroke="#fff"
        stroke-width="3.4"
        stroke-linecap="round"
      />
      <circle cx="23" cy="16" r="2.2" fill="#fff" />
    </svg>
  );
}
