/** A receiver on this machine: gives the answers that a test sets and keeps the requests. */
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Got {
  headers: Record<string, string>;
  body: string;
  at: number;
}

type Answering = (call: { response: http.ServerResponse; n: number }) => void;

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answering =>
  ({ response }) =>
    response.writeHead(code, headers).end(body);

export class Receiver {
  readonly got: Got[] = [];
  /** Its answer; default 204. */
  answer: Answering = status(204);
  readonly #sockets = new Set<Socket>();
  #server: http.Server;
  port = 0;

  private constructor() {
    this.#server = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = request.headers as Record<string, string>;
        this.got.push({ headers, body: Buffer.concat(chunks).toString('utf8'), at: Date.now() });
        this.answer({ response, n: this.got.length });
      });
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
  }

  static async open(answer?: Answering): Promise<Receiver> {
    const receiver = new Receiver();
    if (answer !== undefined) receiver.answer = answer;
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    receiver.port = (receiver.#server.address() as AddressInfo).port;
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
