import type { Socket } from 'node:net';
import { OutboundError } from '../../../../ports/outbound.js';
import type { Deadlines } from '../../deadlines.js';

const MAX_REPLY_BYTES = 64 * 1024;

export class ProtocolConnection {
  #bytes: Buffer = Buffer.alloc(0);
  #fault: OutboundError | null = null;
  #notifyReader: () => void = () => undefined;
  readonly #append = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (this.#bytes.length > MAX_REPLY_BYTES) this.#fail(new OutboundError('protocol', 'the response is too long'));
    this.#notifyReader();
  };

  constructor(
    private readonly socket: Socket,
    clock: Deadlines,
  ) {
    socket.on('data', this.#append);
    socket.on('error', () => this.#handleClose());
    socket.on('close', () => this.#handleClose());
    clock.onFault((fault) => this.#fail(fault));
  }

  /** @throws OutboundError */
  release(): Socket {
    this.socket.off('data', this.#append);
    this.socket.pause();
    // They would be read as if they had come over TLS.
    if (this.#bytes.length > 0) throw new OutboundError('protocol', 'the server sent unexpected data before TLS');
    return this.socket;
  }

  write(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /** @throws OutboundError */
  async read(length: number): Promise<Buffer> {
    await this.#waitUntil(() => this.#bytes.length >= length);
    return this.#consume(length);
  }

  /** @throws OutboundError */
  async readUntil(end: string): Promise<string> {
    await this.#waitUntil(() => this.#bytes.includes(end, 0, 'latin1'));
    const text = this.#consume(this.#bytes.indexOf(end, 0, 'latin1') + end.length).toString('latin1');
    return text.slice(0, -end.length);
  }

  /** @throws OutboundError */
  async readLine(): Promise<string> {
    return (await this.readUntil('\n')).replace(/\r$/, '');
  }

  #consume(length: number): Buffer {
    const read = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return read;
  }

  async #waitUntil(isThere: () => boolean): Promise<void> {
    while (!isThere()) {
      if (this.#fault !== null) throw this.#fault;
      await new Promise<void>((resolve) => (this.#notifyReader = resolve));
    }
  }

  #handleClose(): void {
    this.#fail(new OutboundError('reset', 'the connection was closed before the response was complete'));
  }

  #fail(fault: OutboundError): void {
    this.#fault ??= fault;
    this.#notifyReader();
  }
}
