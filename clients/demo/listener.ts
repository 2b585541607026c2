import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ReceivedEvent {
  event: string;
  data: Record<string, unknown>;
}

export class WebhookReceiver {
  readonly #receivedEvents: ReceivedEvent[] = [];
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      this.#receivedEvents.push(JSON.parse(Buffer.concat(parts).toString('utf8')) as ReceivedEvent);
      response.writeHead(204).end();
    });
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async waitForEvent(
    event: string,
    fits: (data: ReceivedEvent['data']) => boolean,
    ms = 30_000,
  ): Promise<ReceivedEvent | null> {
    for (const end = Date.now() + ms; Date.now() < end;) {
      const found = this.#receivedEvents.find((received) => received.event === event && fits(received.data));
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return null;
  }

  getEventNames(): Set<string> {
    return new Set(this.#receivedEvents.map(({ event }) => event));
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
