import { type Signal, effect, signal } from '@preact/signals';
import type { TimeZoneChoice } from '../data/formats.ts';
import { type SavedView, readViews } from '../data/saved-views.ts';

export type Theme = 'system' | 'light' | 'dark';
export type Density = 'comfortable' | 'compact';

/** A person's settings for this browser. The only data that the console stores. */
export const settings: {
  readonly theme: Signal<Theme>;
  readonly density: Signal<Density>;
  readonly timeZone: Signal<TimeZoneChoice>;
  readonly hasShortcuts: Signal<boolean>;
  /** Whether the browser says that a request waits, while the page is not looked at. */
  readonly hasNotifications: Signal<boolean>;
  readonly views: Signal<readonly SavedView[]>;
} = {
  theme: signal('system'),
  density: signal('comfortable'),
  timeZone: signal('local'),
  hasShortcuts: signal(true),
  hasNotifications: signal(false),
  views: signal([]),
};

const key = 'convoke.settings';

/** Reads the stored settings, and stores every later change. Anything unknown in the storage is ignored. */
export function keepSettings(): void {
  const stored = read();
  settings.theme.value = oneOf(stored['theme'], ['system', 'light', 'dark']);
  settings.density.value = oneOf(stored['density'], ['comfortable', 'compact']);
  settings.timeZone.value = oneOf(stored['timeZone'], ['local', 'utc']);
  settings.hasShortcuts.value = stored['hasShortcuts'] !== false;
  settings.hasNotifications.value = stored['hasNotifications'] === true;
  settings.views.value = readViews(stored['views']);
  let isFirst = true;
  effect(() => {
    const chosen = {
      theme: settings.theme.value,
      density: settings.density.value,
      timeZone: settings.timeZone.value,
      hasShortcuts: settings.hasShortcuts.value,
      hasNotifications: settings.hasNotifications.value,
      views: settings.views.value,
    };
    document.documentElement.dataset['theme'] = chosen.theme;
    document.documentElement.dataset['density'] = chosen.density;
    if (!isFirst) localStorage.setItem(key, JSON.stringify(chosen));
    isFirst = false;
  });
}

function read(): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The first choice is the usual one. */
function oneOf<const T extends string>(value: unknown, choices: readonly [T, ...T[]]): T {
  return choices.find((choice) => choice === value) ?? choices[0];
}
