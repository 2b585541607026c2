/**
 * A proxy that counts the commands sent to MongoDB. Commands of the protocol itself (`hello`,
 * `ping`, …) are not counted.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Length of a MongoDB message header, which contains the message length and type. */
const HEADER_BYTES = 16;
const OP_MSG = 2013;
const FIELDS_OFFSET = HEADER_BYTES + 4 + 1 + 4;
const BSON_STRING_TYPE = 2;

const PROTOCOL_COMMANDS: ReadonlySet<string> = new Set([
  'hello',
  'ismaster',
  'isMaster',
  'ping',
  'endSessions',
  'buildInfo',
]);

export interface MongoCommand {
  name: string;
  collection: string;
}

export class CommandCounter {
  readonly #server = createServer((socket) => this.#connect(socket));
  readonly #sockets = new Set<Socket>();
  #commands: MongoCommand[] = [];

  private constructor(private readonly target: { host: string; port: number }) {}

  static async startBefore(target: { host: string; port: number }): Promise<CommandCounter> {
    const counter = new CommandCounter(target);
    await once(counter.#server.listen(0, '127.0.0.1'), 'listening');
    return counter;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  takeCommands(): MongoCommand[] {
    return this.#commands.splice(0);
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #connect(near: Socket): void {
    const far = connect(this.target);
    let unread: Buffer = Buffer.alloc(0);
    near.on('data', (piece: Buffer) => {
      unread = this.#readMessages(Buffer.concat([unread, piece]));
      far.write(piece);
    });
    far.pipe(near);
    const end = (): void => {
      for (const socket of [near, far]) this.#sockets.delete(socket.destroy());
    };
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', end).on('close', end).setNoDelay(true);
    }
  }

  #readMessages(bytes: Buffer): Buffer {
    let at = 0;
    while (bytes.length - at >= HEADER_BYTES && bytes.length - at >= bytes.readInt32LE(at)) {
      const length = bytes.readInt32LE(at);
      this.#recordCommand(bytes.subarray(at, at + length));
      at += length;
    }
    return Buffer.from(bytes.subarray(at));
  }

  #recordCommand(message: Buffer): void {
    if (message.readInt32LE(12) !== OP_MSG) return;
    const type = message[FIELDS_OFFSET];
    const end = message.indexOf(0, FIELDS_OFFSET + 1);
    const name = message.toString('utf8', FIELDS_OFFSET + 1, end);
    if (PROTOCOL_COMMANDS.has(name)) return;
    const length = type === BSON_STRING_TYPE ? message.readInt32LE(end + 1) : 0;
    const collection = length === 0 ? '' : message.toString('utf8', end + 5, end + 5 + length - 1);
    this.#commands.push({ name, collection });
  }
}
