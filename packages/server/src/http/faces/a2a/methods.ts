import type { A2aVersion } from './rpc.ts';

export type A2aMethod =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'push'
  | 'extended card';

const methods: Readonly<Record<A2aVersion, ReadonlyMap<string, A2aMethod>>> = {
  '1.0': new Map([
    ['SendMessage', 'send'],
    ['SendStreamingMessage', 'stream'],
    ['GetTask', 'get'],
    ['ListTasks', 'list'],
    ['CancelTask', 'cancel'],
    ['SubscribeToTask', 'subscribe'],
    ['CreateTaskPushNotificationConfig', 'push'],
    ['GetTaskPushNotificationConfig', 'push'],
    ['ListTaskPushNotificationConfigs', 'push'],
    ['DeleteTaskPushNotificationConfig', 'push'],
    ['GetExtendedAgentCard', 'extended card'],
  ]),
  '0.3': new Map([
    ['message/send', 'send'],
    ['message/stream', 'stream'],
    ['tasks/get', 'get'],
    ['tasks/list', 'list'],
    ['tasks/cancel', 'cancel'],
    ['tasks/resubscribe', 'subscribe'],
    ['tasks/pushNotificationConfig/set', 'push'],
    ['tasks/pushNotificationConfig/get', 'push'],
    ['tasks/pushNotificationConfig/list', 'push'],
    ['tasks/pushNotificationConfig/delete', 'push'],
    ['agent/getAuthenticatedExtendedCard', 'extended card'],
  ]),
};

export function methodOf(name: string, version: A2aVersion): A2aMethod | undefined {
  return methods[version].get(name);
}
