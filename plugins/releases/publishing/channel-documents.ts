/**
 * `latest.json` and the signed statement (contract 40, files and freshness) reflect the current
 * documents, under the product's lock.
 */
import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { hasElapsed } from '../../../lib/clock-skew.js';
import { collectAll } from '../../../lib/paging.js';
import { DAY_MS, HOUR_MS, toIsoString } from '../../../lib/time.js';
import {
  buildLatestDocument,
  STATEMENT_LIFETIME_MS,
  buildStatementContent,
  formatStatement,
  type LatestDocument,
} from '../update-check/channel-texts.js';
import { ReleaseIndex } from '../update-check/release-index.js';
import { StoreDamaged } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { StatementDoc } from '../model.js';
import { getChannelId } from '../release-place.js';
import { ProductLock } from './product-lock.js';
import type { Signer } from '../../../ports/signer.js';
import type { ReleaseStore } from '../../../ports/release-store.js';

/** Every machine finds one that is valid for days. */
const RENEWAL_AGE_MS = DAY_MS;

@injectable()
export class ChannelDocumentWriter {
  constructor(
    @inject(DEPS.statements) private readonly statements: Collection<StatementDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.signer) private readonly signer: Signer,
    @inject(ReleaseIndex) private readonly index: ReleaseIndex,
    @inject(ProductLock) private readonly lock: ProductLock,
  ) {}

  /**
   * The caller holds the product's lock.
   * @param channels the changed channels
   */
  async write(product: string, channels: ReadonlySet<string>): Promise<void> {
    const { store, clock } = this;
    await this.index.catchUp(product);
    const at = clock.iso();
    const all: Record<string, LatestDocument> = {};
    for (const channel of this.index.listChannels(product)) {
      const document = this.buildDocument(product, channel, at);
      all[channel] = document;
      if (!channels.has(channel)) continue;
      await store.channels.write(product, channel, formatDocument(document));
      await this.#writeStatement(product, channel);
    }
    await store.channels.write(product, null, formatDocument({ schema: 1, product, channels: all }));
  }

  buildDocument(product: string, channel: string, at = this.clock.iso()): LatestDocument {
    return buildLatestDocument(product, channel, this.index.getChannel(product, channel).releases, at);
  }

  /**
   * A day old, missing, or signed by another key.
   * @param signal aborts between two channels
   */
  async renewStatements(signal?: AbortSignal): Promise<void> {
    const key = await this.signer.getKey();
    if (key === null) return;
    const now = this.clock.now();
    const stated = new Map((await collectAll(this.statements, { limit: 200 })).map((doc) => [doc.id, doc]));
    for (const product of this.index.listProducts()) {
      const due = this.index.listChannels(product).filter((channel) => {
        const known = stated.get(getChannelId(product, channel));
        return (
          known === undefined ||
          hasElapsed(known.issued_at, RENEWAL_AGE_MS - HOUR_MS, now) ||
          known.key_id !== key.key_id
        );
      });
      if (signal?.aborted === true) return;
      if (due.length > 0) await this.#renewSafely(product, due);
    }
  }

  /** An unreadable release does not block other products. */
  async #renewSafely(product: string, channels: readonly string[]): Promise<void> {
    try {
      await this.lock.run(product, () => this.#renew(product, channels));
    } catch (err) {
      if (!(err instanceof StoreDamaged)) throw err;
      this.log.error({ err, product }, 'statements could not be renewed: a release of the product is damaged');
    }
  }

  async #renew(product: string, channels: readonly string[]): Promise<void> {
    await this.index.catchUp(product);
    for (const channel of channels) await this.#writeStatement(product, channel);
  }

  async #writeStatement(product: string, channel: string): Promise<void> {
    const { statements, signer, clock } = this;
    const id = getChannelId(product, channel);
    const before = await statements.get(id);
    // Machines reject an older statement, whatever the clock does.
    const now = Math.max(clock.now(), before === null ? 0 : Date.parse(before.issued_at) + 1);
    const content = buildStatementContent(this.index.getChannel(product, channel).releases);
    const statement = formatStatement(product, channel, content, now);
    const signed = await signer.sign(Buffer.from(statement));
    if (signed === null) return;
    const set: Omit<StatementDoc, 'id' | 'rev'> = {
      product,
      channel,
      statement,
      signature: signed.signature,
      key_id: signed.key.key_id,
      issued_at: toIsoString(now),
      expires_at: toIsoString(now + STATEMENT_LIFETIME_MS),
      updated_at: toIsoString(now),
    };
    const written = await statements.change({ id }, { set, inc: { rev: 1 } }, { upsert: true });
    if (written !== null) this.index.updateStatement(written.doc);
  }
}

const formatDocument = (document: object): string => `${JSON.stringify(document)}\n`;
