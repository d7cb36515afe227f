import type { NoticeRecord } from '@convoke/sdk';
import { addressOf } from '../data/routes.ts';
import { printable } from '../data/formats.ts';
import { navigate } from './router.ts';
import { settings } from './settings.ts';

/** Whether this browser can notify at all; some phones cannot. */
export function canNotify(): boolean {
  return 'Notification' in globalThis;
}

/** Turns notifications on or off. Returns false if the browser does not allow them. */
export async function chooseNotifications(isWanted: boolean): Promise<boolean> {
  const isAllowed = !isWanted || (await Notification.requestPermission()) === 'granted';
  settings.hasNotifications.value = isWanted && isAllowed;
  return isAllowed;
}

/**
 * Tells a person who looks elsewhere that an agent waits for them, if they chose so. All tabs hear the notice; one tag
 * makes it one notification. It names the agent only: a lock screen may show it.
 */
export function notifyOfRequest({ type, run_id: run, data }: NoticeRecord, tenant: string): void {
  if (type !== 'run_waiting' || !settings.hasNotifications.value || !document.hidden) return;
  if (!canNotify() || Notification.permission !== 'granted') return;
  const agent = printable(data.agent_name ?? 'An agent');
  const title = data.kind === 'question' ? `${agent} has a question` : `${agent} needs approval`;
  try {
    const shown = new Notification(title, { tag: `convoke.${run ?? ''}` });
    shown.addEventListener('click', () => {
      focus();
      navigate(addressOf('approvals', { tenant }));
      shown.close();
    });
  } catch {
    // Some browsers let only a service worker notify; the title of the tab still has the count.
  }
}
