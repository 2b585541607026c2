/** A TCP proxy before a server, for bad days: cuts connections, holds or delays what they carry, refuses new ones. */
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<[Socket, Socket]>();
  #refusing = false;
  #refused = 0;
  /** What has arrived since `hold`, to be let through by `heal`; null: nothing is held. */
  #held: (() => void)[] | null = null;
  #delayMs = 0;

  private constructor(readonly target: { host: string; port: number }) {
    this.#server = createServer((socket) => this.#join(socket));
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

  /** Connections that were not taken, since `refuse`. */
  get refused(): number {
    return this.#refused;
  }

  /** Pieces that were not let through. */
  get held(): number {
    return this.#held?.length ?? 0;
  }

  #join(near: Socket): void {
    if (this.#refusing) {
      this.#refused += 1;
      near.destroy();
      return;
    }
    const far = connect(this.target);
    const pair: [Socket, Socket] = [near, far];
    this.#pairs.add(pair);
    const end = (): void => {
      near.destroy();
      far.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of pair) socket.on('error', end).on('close', end).setNoDelay(true);
    near.pipe(this.#line()).pipe(far);
    far.pipe(this.#line()).pipe(near);
  }

  #line(): Transform {
    return new Transform({
      transform: (piece, _encoding, done) => this.#carry(() => done(null, piece)),
    });
  }

  #carry(piece: () => void): void {
    if (this.#held !== null) this.#held.push(piece);
    else if (this.#delayMs > 0) setTimeout(piece, this.#delayMs);
    else piece();
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
    this.#held ??= [];
  }

  /** Each piece arrives so much later. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** New connections are taken and ended at once, old ones are cut. */
  refuse(): void {
    this.#refusing = true;
    this.#refused = 0;
    this.cut();
  }

  /** As if nothing had been; what was held comes through late. */
  heal(): void {
    this.#refusing = false;
    this.#delayMs = 0;
    const held = this.#held ?? [];
    this.#held = null;
    for (const piece of held) piece();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }
}
