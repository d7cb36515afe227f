import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

const attribute = z.object({
  key: z.string(),
  value: z.object({ stringValue: z.string().optional(), intValue: z.number().optional() }),
});
const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: z.array(attribute).default([]),
});
const exported = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
});

export interface ReceivedSpan extends Omit<z.infer<typeof span>, 'attributes'> {
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
}

/** Receives spans as a collector does: OTLP over HTTP with JSON. */
export class SpanReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void json(request).then((body) => {
        this.#take(body);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
  }

  static async open(): Promise<SpanReceiver> {
    const receiver = new SpanReceiver();
    receiver.#server.listen({ host: '127.0.0.1', port: 0 });
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #take(body: unknown): void {
    for (const { scopeSpans } of exported.parse(body).resourceSpans) {
      for (const received of scopeSpans.flatMap(({ spans }) => spans)) {
        const pairs = received.attributes.map(({ key, value }) => [
          key,
          value.stringValue ?? value.intValue,
        ]);
        this.spans.push({ ...received, attributes: Object.fromEntries(pairs) });
      }
    }
  }
}
