import type { Socket } from 'node:net';
import { OutboundError } from '../../../../ports/outbound.js';
import type { Deadlines } from '../../deadlines.js';

const MAX_BYTES = 64 * 1024;

export class Wire {
  #bytes: Buffer = Buffer.alloc(0);
  #fault: OutboundError | null = null;
  #wake: () => void = () => undefined;
  readonly #take = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (this.#bytes.length > MAX_BYTES) this.#fail(new OutboundError('protocol', 'the answer is too long'));
    this.#wake();
  };

  constructor(
    private readonly socket: Socket,
    clock: Deadlines,
  ) {
    socket.on('data', this.#take);
    socket.on('error', () => this.#closed());
    socket.on('close', () => this.#closed());
    clock.onFault((fault) => this.#fail(fault));
  }

  /**
   * Hands the connection over to TLS.
   * @throws OutboundError
   */
  release(): Socket {
    this.socket.off('data', this.#take);
    this.socket.pause();
    // Bytes received before the handshake would be read as if they had come over TLS.
    if (this.#bytes.length > 0) throw new OutboundError('protocol', 'the server said more than was asked before TLS');
    return this.socket;
  }

  write(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /**
   * Reads exactly `length` bytes.
   * @throws OutboundError
   */
  async read(length: number): Promise<Buffer> {
    await this.#until(() => this.#bytes.length >= length);
    return this.#cut(length);
  }

  /**
   * Reads up to and excluding `end`.
   * @throws OutboundError
   */
  async readUntil(end: string): Promise<string> {
    await this.#until(() => this.#bytes.includes(end, 0, 'latin1'));
    const text = this.#cut(this.#bytes.indexOf(end, 0, 'latin1') + end.length).toString('latin1');
    return text.slice(0, -end.length);
  }

  /**
   * Reads a line without its terminator.
   * @throws OutboundError
   */
  async readLine(): Promise<string> {
    return (await this.readUntil('\n')).replace(/\r$/, '');
  }

  #cut(length: number): Buffer {
    const read = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return read;
  }

  async #until(isThere: () => boolean): Promise<void> {
    while (!isThere()) {
      if (this.#fault !== null) throw this.#fault;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #closed(): void {
    this.#fail(new OutboundError('reset', 'the connection was closed before the answer was complete'));
  }

  #fail(fault: OutboundError): void {
    this.#fault ??= fault;
    this.#wake();
  }
}
