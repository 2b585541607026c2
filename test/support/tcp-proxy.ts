/**
 * A TCP proxy that simulates network faults: it cuts connections, holds or delays data, and rejects
 * new connections.
 */
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<[Socket, Socket]>();
  #refusing = false;
  #refused = 0;
  /** Data held since `holdData`, forwarded by `restore`; null if not holding. */
  #held: (() => void)[] | null = null;
  #delayMs = 0;

  private constructor(readonly target: { host: string; port: number }) {
    this.#server = createServer((socket) => this.#connect(socket));
  }

  static async startBefore(target: { host: string; port: number }): Promise<TcpProxy> {
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

  get rejectedCount(): number {
    return this.#refused;
  }

  get heldCount(): number {
    return this.#held?.length ?? 0;
  }

  #connect(near: Socket): void {
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
    near.pipe(this.#createPipe()).pipe(far);
    far.pipe(this.#createPipe()).pipe(near);
  }

  #createPipe(): Transform {
    return new Transform({
      transform: (piece, _encoding, done) => this.#forward(() => done(null, piece)),
    });
  }

  #forward(piece: () => void): void {
    if (this.#held !== null) this.#held.push(piece);
    else if (this.#delayMs > 0) setTimeout(piece, this.#delayMs);
    else piece();
  }

  resetConnections(): void {
    for (const [near, far] of this.#pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  }

  /** Keeps connections open and forwards nothing, including on new ones. */
  holdData(): void {
    this.#held ??= [];
  }

  setDelay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Accepts and immediately closes new connections; cuts existing ones. */
  rejectConnections(): void {
    this.#refusing = true;
    this.#refused = 0;
    this.resetConnections();
  }

  /** Ends all faults and forwards held data. */
  restore(): void {
    this.#refusing = false;
    this.#delayMs = 0;
    const held = this.#held ?? [];
    this.#held = null;
    for (const piece of held) piece();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.resetConnections();
    await once(this.#server, 'close');
  }
}
