import { AgentFailure } from '../exit.js';
import type { JsonAnswer } from '../net/http.js';
import type { Network, Package } from '../net/network.js';
import type { CheckedOptions } from '../options.js';
import type { Env } from '../options/table.js';
import type { SetupPath } from '../net/session.js';
import type { ServiceControl } from '../update/service.js';
import { failureOfRefusal, MARK, type Order, type OwnerReply, type Wish } from './messages.js';

export const isChild = (env: Env): boolean => env[MARK] === '1' && process.send !== undefined;

const gone = (): AgentFailure => new AgentFailure('error', 'the process that is root has ended');

export class Parent {
  #last = 0;
  readonly #waiting = new Map<number, (reply: OwnerReply) => void>();
  /** Pending requests: an idle channel must not keep the process alive. */
  #open = 0;

  private constructor() {
    process.on('message', (reply: OwnerReply) => this.#waiting.get(reply.id)?.(reply));
    process.channel?.unref();
  }

  static async met(): Promise<{ parent: Parent; order: Order }> {
    const order = await new Promise<Order>((resolve, reject) => {
      process.once('message', (first: Order) => resolve(first));
      process.once('disconnect', () => reject(gone()));
    });
    return { parent: new Parent(), order };
  }

  async wish(wish: Wish): Promise<unknown> {
    const id = ++this.#last;
    if (this.#open++ === 0) process.channel?.ref();
    try {
      const reply = await new Promise<OwnerReply>((resolve, reject) => {
        const lost = (): void => reject(gone());
        process.once('disconnect', lost);
        this.#waiting.set(id, (found) => {
          process.off('disconnect', lost);
          resolve(found);
        });
        if (!process.connected) lost();
        else process.send?.({ id, wish });
      });
      if ('refusal' in reply) throw failureOfRefusal(reply.refusal);
      return reply.value;
    } finally {
      this.#waiting.delete(id);
      if (--this.#open === 0) process.channel?.unref();
    }
  }

  readonly control: ServiceControl = async (verb) => {
    await this.wish({ call: 'control', verb });
  };
}

export const optionsOf = ({ options }: Order): CheckedOptions => ({
  ...options,
  server: options.server === null ? null : new URL(options.server),
  password: null,
});

export class ParentsNetwork implements Network, SetupPath {
  constructor(private readonly parent: Parent) {}

  async askAccount(): Promise<boolean> {
    return true;
  }

  async ask(url: URL, most: number): Promise<JsonAnswer> {
    return (await this.parent.wish({ call: 'ask', url: url.href, most })) as JsonAnswer;
  }

  async open(url: URL, headers: Readonly<Record<string, string>>): Promise<Package> {
    const opened = await this.parent.wish({ call: 'open', url: url.href, headers });
    const { handle, ...answer } = opened as Omit<Package, 'content' | 'drop'> & { handle: number };
    const { parent } = this;
    const pieces = async function* (): AsyncGenerator<Buffer> {
      for (;;) {
        const piece = (await parent.wish({ call: 'read', handle })) as Uint8Array | null;
        if (piece === null) return;
        yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      }
    };
    const drop = async (): Promise<void> => {
      await parent.wish({ call: 'drop', handle });
    };
    return { ...answer, content: pieces(), drop };
  }

  async login(): Promise<SetupPath | null> {
    return (await this.parent.wish({ call: 'login' })) === true ? this : null;
  }

  async get(route: string, query: Record<string, string>, most: number): Promise<Record<string, unknown>> {
    return (await this.parent.wish({ call: 'get', route, query, most })) as Record<string, unknown>;
  }

  async post(route: string, content: object, most: number): Promise<Record<string, unknown>> {
    return (await this.parent.wish({ call: 'post', route, content, most })) as Record<string, unknown>;
  }
}
