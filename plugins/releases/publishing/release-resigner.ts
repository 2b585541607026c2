/**
 * After a key rotation (contract 40, files). The file is written before the document, so after a
 * crash a later run finds the earlier key.
 */
import { inject, injectable, type Clock, type Logger } from '../../../kernel/contract/index.js';
import type { ReleaseSigning } from '../../../ports/domain/releases.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { ManifestRepository } from '../update-check/manifest-repository.js';
import { ReleaseIndex } from '../update-check/release-index.js';
import { DEPS } from '../deps.js';
import { toStorePath, type ReleaseDoc } from '../model.js';
import { ChannelDocumentWriter } from './channel-documents.js';
import { ReleaseChangeFinisher } from './change-finisher.js';
import { ProductLock } from './product-lock.js';
import { ReleaseRepository } from './release-repository.js';
import type { Signer } from '../../../ports/signer.js';
import type { ReleaseStore } from '../../../ports/release-store.js';

@injectable()
export class ReleaseResigner implements ReleaseSigning {
  readonly #flights = new SingleFlight<number>();

  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.signer) private readonly signer: Signer,
    @inject(ReleaseRepository) private readonly docs: ReleaseRepository,
    @inject(ManifestRepository) private readonly manifests: ManifestRepository,
    @inject(ReleaseIndex) private readonly index: ReleaseIndex,
    @inject(ChannelDocumentWriter) private readonly channels: ChannelDocumentWriter,
    @inject(ProductLock) private readonly lock: ProductLock,
    @inject(ReleaseChangeFinisher) private readonly finisher: ReleaseChangeFinisher,
  ) {}

  async resign(): Promise<{ releases: number }> {
    return { releases: await this.#flights.fresh('', () => this.#resignAll()) };
  }

  async #resignAll(): Promise<number> {
    const key = await this.signer.getKey();
    if (key === null) return 0;
    const old = await this.docs.list({ withdrawn_at: null, key_id: { ne: key.key_id } });
    // Releases published unsigned stay unsigned.
    const due = old.filter((doc) => doc.key_id !== null);
    let signed = 0;
    for (const { id, product } of due) if (await this.lock.run(product, () => this.#resignOne(id))) signed++;
    await this.index.refresh();
    await this.channels.renewStatements();
    return signed;
  }

  /**
   * Runs under the product's lock.
   * @returns false when another process was first, or the release is gone
   */
  async #resignOne(id: string): Promise<boolean> {
    const { signer, store, clock, log } = this;
    const doc = await this.docs.get(id);
    if (doc === null || doc.withdrawn_at !== null || doc.withdrawing !== undefined) return false;
    const manifest = await this.manifests.read(id, doc.manifest_sha256);
    if (manifest === null) {
      log.error({ release: id }, 'the manifest of a release is missing: it was not re-signed');
      return false;
    }
    const signed = await signer.sign(Buffer.from(manifest));
    if (signed === null || signed.key.key_id === doc.key_id) return false;
    await store.packages.writeTexts(toStorePath(doc), { manifest, signature: signed.signature });
    const changes: Partial<ReleaseDoc> = { manifest_signature: signed.signature, key_id: signed.key.key_id };
    await this.finisher.finish(await this.docs.update(doc, { ...changes, open_at: clock.iso() }, manifest));
    return true;
  }
}
