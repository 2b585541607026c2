/** A TCP proxy before a server, for bad days: cuts connections, holds what they carry, refuses new ones. */
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';

export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<[Socket, Socket]>();
  #refusing = false;
  #holding = false;

  private constructor(readonly target: { host: string; port: number }) {
    this.#server = createServer({ pauseOnConnect: false }, (socket) => this.#join(socket));
  }

  static async before(target: { host: string; port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  #join(near: Socket): void {
    if (this.#refusing) return void near.destroy();
    const far = connect(this.target);
    const pair: [Socket, Socket] = [near, far];
    this.#pairs.add(pair);
    const end = (): void => {
      near.destroy();
      far.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of pair) socket.on('error', end).on('close', end).setNoDelay(true);
    near.pipe(new PassThrough()).pipe(far);
    far.pipe(new PassThrough()).pipe(near);
    if (this.#holding) this.#hold(pair);
  }

  #hold([near, far]: [Socket, Socket]): void {
    near.pause();
    far.pause();
  }

  /** Every connection ends without a word. */
  cut(): void {
    for (const [near, far] of this.#pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  }

  /** Connections stay, and nothing comes through, new ones included. */
  hold(): void {
    this.#holding = true;
    for (const pair of this.#pairs) this.#hold(pair);
  }

  /** New connections are taken and ended at once, old ones are cut. */
  refuse(): void {
    this.#refusing = true;
    this.cut();
  }

  /** As if nothing had been; what was held comes through late. */
  heal(): void {
    this.#refusing = false;
    this.#holding = false;
    for (const [near, far] of this.#pairs) {
      near.resume();
      far.resume();
    }
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }
}
