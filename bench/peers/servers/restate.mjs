// The service that Restate's server calls: node servers/restate.mjs <port>
import { createPubsubObject, createPubsubPublisher } from '@restatedev/pubsub';
import * as restate from '@restatedev/restate-sdk';

const publish = createPubsubPublisher('words');

const agent = restate.service({
  name: 'agent',
  handlers: {
    /** One word, which is the result: what is stored is the invocation and its result. */
    async start() {
      return 'word ';
    },
    /** Each word goes to a topic that keeps it, for readers that pull. */
    async talk(ctx, { topic, deltas, waitMs }) {
      if (waitMs > 0) await ctx.sleep(waitMs);
      for (let said = 0; said < deltas; said += 1) publish(ctx, topic, 'word ');
      publish(ctx, topic, 'end');
    },
  },
});

await restate
  .endpoint()
  .bind(agent)
  .bind(createPubsubObject('words'))
  .listen(Number(process.argv[2]));
