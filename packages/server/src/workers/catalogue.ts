import { answerConnected } from '../app/connections/answer-connected.ts';
import type { WebhookServices } from '../app/webhooks/webhooks.ts';
import type { WithdrawingServices } from '../app/withdrawals.ts';
import type { SigningKeys } from '../auth/keys.ts';
import type { Dispatcher } from '../execution/dispatcher.ts';
import type { LeaseWatch } from '../execution/lease-watch.ts';
import type { ExecutionServices } from '../execution/services.ts';
import type { Provisioner } from '../ports/provisioner.ts';
import type { Pass } from './driver.ts';
import { cancelCalledRuns } from './cancel-called-runs.ts';
import { checkAudit } from './check-audit.ts';
import { countUsage } from './count-usage.ts';
import { endParkedCancellations } from './end-parked-cancellations.ts';
import { expireIdentityRecords } from './retention/expire-identity-records.ts';
import { expireInteractions } from './retention/expire-interactions.ts';
import { expireSessions } from './retention/expire-sessions.ts';
import { finishWithdrawals } from './finish-withdrawals.ts';
import { fireSchedules } from './fire-schedules.ts';
import { forgetDeliveries } from './retention/forget-deliveries.ts';
import { forgetFires } from './retention/forget-fires.ts';
import { forgetOldEvents } from './retention/forget-old-events.ts';
import { forgetOldNotices } from './retention/forget-old-notices.ts';
import { forgetRateLimits } from './retention/forget-rate-limits.ts';
import { forgetTenants } from './retention/forget-tenants.ts';
import { forgetUsage } from './retention/forget-usage.ts';
import { numberingPass } from './number-notices.ts';
import { offboardTenants } from './offboard-tenants.ts';
import type { PassReport } from './pass-report.ts';
import { prepareEventLog } from './prepare-event-log.ts';
import { provisionTenants } from './provision-tenants.ts';
import { type Leases, reconcileRuns } from './reconcile-runs.ts';
import { releaseSessions } from './release-sessions.ts';
import { removeBlobs } from './retention/remove-blobs.ts';
import { removeSessionFolders } from './retention/remove-session-folders.ts';
import { rotateSigningKeys } from './rotate-signing-keys.ts';
import { settleWaits } from './settle-waits.ts';
import type { WebhookDeliverer } from './webhook-deliverer.ts';

export type BackgroundServices = ExecutionServices &
  WebhookServices &
  WithdrawingServices & { readonly provisioner: Provisioner; readonly keys: SigningKeys };

export interface CatalogueParts {
  readonly services: BackgroundServices;
  readonly dispatcher: Dispatcher;
  readonly deliverer: WebhookDeliverer;
  readonly leaseWatch: LeaseWatch;
  readonly leases: Leases;
  readonly report: PassReport;
  /** 0: events are kept for ever. */
  readonly eventRetentionMs: number;
  readonly noticeRetentionMs: number;
  /** 0: folders of ended sessions are kept for ever. */
  readonly folderRetentionMs: number;
}

interface CatalogueEntry {
  readonly name: string;
  readonly everyMs: number;
  readonly pass: Pass;
  /** False: this server does not need the pass. */
  readonly when?: boolean;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Lists all background work of a server. The names are the `pass` label of the metrics. */
export function catalogue(parts: CatalogueParts) {
  const { services, dispatcher, deliverer, leaseWatch, leases, report } = parts;
  const { eventRetentionMs, folderRetentionMs, noticeRetentionMs } = parts;
  const { isSingleServer } = services;
  const leaseMs = services.settings.leaseMs;
  // Wake-ups between servers can be lost: then polling finds what they announced.
  const isPolling = !services.fanout.lossless;
  const keepsEvents = eventRetentionMs === 0;
  const forgetEvents = forgetOldEvents(services, eventRetentionMs);
  const keepsFolders = folderRetentionMs === 0;
  const removeFolders = removeSessionFolders(services, folderRetentionMs);
  const renewLeases = async () => {
    // Before the renewal makes them count as held again: their programs have been killed (`Sandbox.keepAlive`).
    await dispatcher.abandonLostRuns();
    return leaseWatch.renew();
  };
  // biome-ignore format: a table
  const entries = [
    { name: 'dispatch runs', everyMs: second, pass: () => dispatcher.dispatchRuns() },
    { name: 'check control', everyMs: second, pass: () => dispatcher.checkControl(), when: isPolling },
    { name: 'end parked cancellations', everyMs: second, pass: () => endParkedCancellations(services) },
    { name: 'renew leases', everyMs: leaseMs / 5, pass: renewLeases },
    { name: 'abandon lost runs', everyMs: second, pass: () => dispatcher.abandonLostRuns(), when: !isSingleServer },
    { name: 'reconcile runs', everyMs: 2 * second, pass: () => reconcileRuns(services, leases) },
    { name: 'fire schedules', everyMs: second, pass: () => fireSchedules(services) },
    { name: 'deliver webhooks', everyMs: second, pass: () => deliverer.deliver() },
    { name: 'forget deliveries', everyMs: hour, pass: () => forgetDeliveries(services) },
    { name: 'forget fires', everyMs: hour, pass: () => forgetFires(services) },
    { name: 'cancel called runs', everyMs: second, pass: () => cancelCalledRuns(services) },
    { name: 'settle waits', everyMs: second, pass: () => settleWaits(services) },
    { name: 'answer connected', everyMs: minute, pass: () => answerConnected(services) },
    { name: 'expire interactions', everyMs: 5 * second, pass: () => expireInteractions(services) },
    { name: 'expire sessions', everyMs: minute, pass: () => expireSessions(services) },
    { name: 'release sessions', everyMs: second, pass: () => releaseSessions(services) },
    { name: 'finish withdrawals', everyMs: second, pass: () => finishWithdrawals(services) },
    { name: 'provision tenants', everyMs: second, pass: () => provisionTenants(services) },
    { name: 'offboard tenants', everyMs: second, pass: () => offboardTenants(services) },
    { name: 'forget tenants', everyMs: minute, pass: () => forgetTenants(services) },
    { name: 'number notices', everyMs: second, pass: numberingPass(services) },
    { name: 'forget old notices', everyMs: hour, pass: () => forgetOldNotices(services, noticeRetentionMs) },
    { name: 'remove blobs', everyMs: second, pass: () => removeBlobs(services) },
    { name: 'remove session folders', everyMs: hour, pass: removeFolders, when: !keepsFolders },
    { name: 'expire identity records', everyMs: minute, pass: () => expireIdentityRecords(services) },
    { name: 'forget rate limits', everyMs: hour, pass: () => forgetRateLimits(services) },
    { name: 'count usage', everyMs: second, pass: () => countUsage(services) },
    { name: 'forget usage', everyMs: hour, pass: () => forgetUsage(services) },
    { name: 'check audit', everyMs: minute, pass: () => checkAudit(services) },
    { name: 'rotate signing keys', everyMs: hour, pass: () => rotateSigningKeys(services) },
    { name: 'prepare event log', everyMs: hour, pass: () => prepareEventLog(services) },
    { name: 'forget old events', everyMs: hour, pass: forgetEvents, when: !keepsEvents },
    { name: 'write pass report', everyMs: 5 * second, pass: () => report.write() },
  ] as const satisfies readonly CatalogueEntry[];
  return entries.filter((entry: CatalogueEntry) => entry.when !== false);
}

export type PassName = ReturnType<typeof catalogue>[number]['name'];
