import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Told {
  event: string;
  data: Record<string, unknown>;
}

export class Listener {
  readonly #told: Told[] = [];
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      this.#told.push(JSON.parse(Buffer.concat(parts).toString('utf8')) as Told);
      response.writeHead(204).end();
    });
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async heard(event: string, fits: (data: Told['data']) => boolean, ms = 30_000): Promise<Told | null> {
    for (const end = Date.now() + ms; Date.now() < end;) {
      const found = this.#told.find((told) => told.event === event && fits(told.data));
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return null;
  }

  names(): Set<string> {
    return new Set(this.#told.map(({ event }) => event));
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
