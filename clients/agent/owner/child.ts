import { AgentFailure } from '../exit.js';
import type { JsonAnswer } from '../net/http.js';
import type { Network, PackageResponse } from '../net/network.js';
import type { CheckedOptions } from '../options/index.js';
import type { Env } from '../options/table.js';
import type { SetupApi } from '../net/session.js';
import type { ServiceControl } from '../update/service.js';
import { toFailure, CHILD_MARKER, type ChildInstructions, type OwnerReply, type OwnerRequest } from './messages.js';

export const isChild = (env: Env): boolean => env[CHILD_MARKER] === '1' && process.send !== undefined;

const createParentGoneFailure = (): AgentFailure => new AgentFailure('error', 'the root process has exited');

export class ParentChannel {
  #last = 0;
  readonly #waiting = new Map<number, (reply: OwnerReply) => void>();
  /** Pending requests: an idle channel must not keep the process alive. */
  #open = 0;

  private constructor() {
    process.on('message', (reply: OwnerReply) => this.#waiting.get(reply.id)?.(reply));
    process.channel?.unref();
  }

  static async connect(): Promise<{ parent: ParentChannel; order: ChildInstructions }> {
    const order = await new Promise<ChildInstructions>((resolve, reject) => {
      process.once('message', (first: ChildInstructions) => resolve(first));
      process.once('disconnect', () => reject(createParentGoneFailure()));
    });
    return { parent: new ParentChannel(), order };
  }

  async request(ownerRequest: OwnerRequest): Promise<unknown> {
    const id = ++this.#last;
    if (this.#open++ === 0) process.channel?.ref();
    try {
      const reply = await new Promise<OwnerReply>((resolve, reject) => {
        const lost = (): void => reject(createParentGoneFailure());
        process.once('disconnect', lost);
        this.#waiting.set(id, (found) => {
          process.off('disconnect', lost);
          resolve(found);
        });
        if (!process.connected) lost();
        else process.send?.({ id, wish: ownerRequest });
      });
      if ('refusal' in reply) throw toFailure(reply.refusal);
      return reply.value;
    } finally {
      this.#waiting.delete(id);
      if (--this.#open === 0) process.channel?.unref();
    }
  }

  readonly controlService: ServiceControl = async (verb) => {
    await this.request({ call: 'control', verb });
  };
}

export const toChildOptions = ({ options }: ChildInstructions): CheckedOptions => ({
  ...options,
  server: options.server === null ? null : new URL(options.server),
  password: null,
});

export class ProxiedNetwork implements Network, SetupApi {
  constructor(private readonly parent: ParentChannel) {}

  async promptAccount(): Promise<boolean> {
    return true;
  }

  async getJson(url: URL, most: number): Promise<JsonAnswer> {
    return (await this.parent.request({ call: 'ask', url: url.href, most })) as JsonAnswer;
  }

  async openPackage(url: URL, headers: Readonly<Record<string, string>>): Promise<PackageResponse> {
    const opened = await this.parent.request({ call: 'open', url: url.href, headers });
    const { handle, ...answer } = opened as Omit<PackageResponse, 'content' | 'drop'> & { handle: number };
    const { parent } = this;
    const pieces = async function* (): AsyncGenerator<Buffer> {
      for (;;) {
        const piece = (await parent.request({ call: 'read', handle })) as Uint8Array | null;
        if (piece === null) return;
        yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      }
    };
    const drop = async (): Promise<void> => {
      await parent.request({ call: 'drop', handle });
    };
    return { ...answer, content: pieces(), drop };
  }

  async login(): Promise<SetupApi | null> {
    return (await this.parent.request({ call: 'login' })) === true ? this : null;
  }

  async get(route: string, query: Record<string, string>, most: number): Promise<Record<string, unknown>> {
    return (await this.parent.request({ call: 'get', route, query, most })) as Record<string, unknown>;
  }

  async post(route: string, content: object, most: number): Promise<Record<string, unknown>> {
    return (await this.parent.request({ call: 'post', route, content, most })) as Record<string, unknown>;
  }
}
