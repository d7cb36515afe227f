// An agent on the A2A SDK's own server, with express and the store in memory: node servers/a2a.mjs <port>
import { AgentCard, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, jsonRpcHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { setImmediate, setTimeout } from 'node:timers/promises';

const eventsPerTurn = 512;
const port = Number(process.argv[2]);
const url = `http://127.0.0.1:${port}/`;
const card = AgentCard.fromJSON({
  name: 'bench',
  description: 'Says words',
  version: '1',
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
});

const executor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const { deltas, waitMs } = JSON.parse(userMessage.parts[0].content.value);
    const ids = { taskId, contextId };
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: statusOf('SUBMITTED'),
        artifacts: [],
        history: [],
      }),
    );
    if (waitMs > 0) await setTimeout(waitMs);
    for (let said = 1; said <= deltas; said += 1) {
      bus.publish(
        AgentEvent.artifactUpdate({
          ...ids,
          artifact: wordOf(taskId),
          append: true,
          lastChunk: false,
        }),
      );
      if (said % eventsPerTurn === 0) await setImmediate();
    }
    bus.publish(AgentEvent.statusUpdate({ ...ids, status: statusOf('COMPLETED') }));
    bus.finished();
  },
  async cancelTask() {},
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const app = express();
app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(port, '127.0.0.1');

function statusOf(name) {
  return { state: TaskState[`TASK_STATE_${name}`], message: undefined, timestamp: undefined };
}

function wordOf(taskId) {
  const part = { content: { $case: 'text', value: 'word ' }, filename: '', mediaType: '' };
  return {
    artifactId: `${taskId}-answer`,
    name: '',
    description: '',
    parts: [part],
    extensions: [],
  };
}
